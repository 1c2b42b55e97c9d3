# Which sessions made this commit, by the variables that agents set: one line more in the file links, written without
# a process. While a rebase goes on, a commit is most likely the copy of one that is linked already.
reverie_by=
@sessions@
case $reverie_by in *[!A-Za-z0-9\ ._/-]*) reverie_by= ;; esac
if [ -n "$reverie_by" ] && [ -f "$reverie_dir/links" ]; then
	{
		reverie_git=${GIT_DIR:-$reverie_dir/..} reverie_branch=- reverie_id=
		read -r reverie_head <"$reverie_git/HEAD"
		case $reverie_head in
		'ref: refs/heads/'*)
			reverie_branch=${reverie_head#ref: refs/heads/}
			[ ! -f "$reverie_dir/../refs/heads/$reverie_branch" ] || read -r reverie_id <"$reverie_dir/../refs/heads/$reverie_branch"
			;;
		*) reverie_id=$reverie_head ;;
		esac
		if [ -z "$reverie_id" ]; then # refs are in a reftable
			reverie_id=$(git rev-parse --verify --quiet HEAD)
			reverie_branch=$(git symbolic-ref --quiet --short HEAD) || reverie_branch=-
		fi
		case $reverie_branch in *[!A-Za-z0-9._/-]*) reverie_branch=- ;; esac
		reverie_verb=commit
		[ ! -d "$reverie_git/rebase-merge" ] && [ ! -d "$reverie_git/rebase-apply" ] || reverie_verb=copied
		[ -z "$reverie_id" ] || printf '%s %s %s%s\n' "$reverie_verb" "$reverie_id" "$reverie_branch" "$reverie_by" >>"$reverie_dir/links"
	} 2>/dev/null || :
fi
# A commit where a loop works, or that may start one: a process looks whether it does. A loop's own commands have other hooks.
if [ -n "@plans@" ] || [ -f "${GIT_DIR:-$reverie_dir/..}/reverie-loop" ] || [ -f "$reverie_dir/loops.here" ]; then
	if [ -z "${REVERIE_LOOP-}" ]; then
@wake@
	fi
fi
# The agents' stores are searched again when that is due: the message of this commit is newer than the time in look.due.
if [ -z "${REVERIE_LOOP-}" ] && { [ ! -f "$reverie_dir/look.due" ] || [ "${GIT_DIR:-$reverie_dir/..}/COMMIT_EDITMSG" -nt "$reverie_dir/look.due" ]; } 2>/dev/null; then
@look@
fi
