# A look at what of Reverie's own goes out, for five seconds at most, and nothing more than a line about it. The rest
# of this hook gets the same standard input.
if [ -n "$reverie_bin" ]; then
	reverie_in=$(cat) || reverie_in=
	case $reverie_in in
	'') ;;
	*refs/reverie/* | *refs/heads/reverie/* | *@ref@*)
		{
			"$reverie_bin" hook git pre-push "$@" >/dev/null 2>&3 <<reverie_end &
$reverie_in
reverie_end
			reverie_pid=$! reverie_n=0
			while kill -0 "$reverie_pid" && [ "$reverie_n" -lt 50 ]; do
				sleep 0.1 || sleep 1
				reverie_n=$((reverie_n + 1))
			done
			kill -9 "$reverie_pid"
			wait "$reverie_pid"
		} 3>&2 2>/dev/null || :
		;;
	*) @along@ ;;
	esac
	@restore@
fi
