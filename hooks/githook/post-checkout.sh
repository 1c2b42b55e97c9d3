# Another commit: what is known is held against other code. Files that were checked out alone change nothing.
if [ "${3-}" = 1 ] && [ ! -d "${GIT_DIR:-$reverie_dir/..}/rebase-merge" ] && [ ! -d "${GIT_DIR:-$reverie_dir/..}/rebase-apply" ]; then
	@settle@
fi
