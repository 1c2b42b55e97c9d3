# The trailer that names the session, in a message that was given on the command line. One that is still to be typed
# stays as it is: git gives up a commit whose message is left empty.
reverie_by=
@session@
case $reverie_by in *[!A-Za-z0-9._/-]*) reverie_by= ;; esac
case ${2-} in message | commit) ;; *) reverie_by= ;; esac
reverie_git=${GIT_DIR:-$reverie_dir/..}
for reverie_at in rebase-merge rebase-apply CHERRY_PICK_HEAD; do # the message is somebody's already
	[ ! -e "$reverie_git/$reverie_at" ] || reverie_by=
done
if [ -n "$reverie_by" ] && [ -f "$reverie_dir/links" ] && [ -f "${1-}" ]; then
	reverie_has=
	while read -r reverie_line || [ -n "$reverie_line" ]; do
		case $reverie_line in '' | '#'*) ;; *) reverie_has=1 && break ;; esac
	done <"$1"
	[ -z "$reverie_has" ] || git interpret-trailers --in-place --no-divider --where end --if-exists addIfDifferent --if-missing add \
		--trailer "Reverie-Session: $reverie_by" "$1" >/dev/null 2>&1 || :
fi
