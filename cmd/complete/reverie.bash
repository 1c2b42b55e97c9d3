# bash completion for reverie
_reverie() {
	local IFS=$'\n'
	COMPREPLY=($(reverie complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _reverie reverie
