# Which commits took the place of which, where commits are linked at all. The rest of this hook gets the same standard input.
if [ -s "$reverie_dir/links" ]; then
	reverie_in=$(cat) || reverie_in=
	{
		while read -r reverie_old reverie_new reverie_rest; do
			[ -z "$reverie_new" ] || printf 'moved %s %s\n' "$reverie_old" "$reverie_new"
		done >>"$reverie_dir/links" <<reverie_end
$reverie_in
reverie_end
	} 2>/dev/null || :
	@restore@
fi
if [ "${1-}" = rebase ]; then # what was learned on the branch has to be found on its copy
	@settle@
fi
