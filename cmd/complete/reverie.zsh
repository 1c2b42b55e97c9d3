#compdef reverie
# zsh completion for reverie
_reverie() {
	local word about
	local -a found
	while IFS=$'\t' read -r word about; do
		found+=("${word//:/\\:}:$about")
	done < <(reverie complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
	if (( $#found )); then
		_describe reverie found
	else
		_files
	fi
}
compdef _reverie reverie
