# fish completion for reverie
function __reverie_words
    set -l found (reverie complete -- (commandline -opc)[2..-1] (commandline -ct) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c reverie -f -a '(__reverie_words)'
