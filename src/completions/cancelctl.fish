# Completion of cancelctl for fish. cancelctl itself tells its commands, their options, what runs, and the clients.

function __cancelctl_commands
    cancelctl help 2>/dev/null | string replace -rf '^  ([a-z][a-z-]*).*' '$1'
end

function __cancelctl_words
    set -l words (commandline -opc)
    set -l usage (cancelctl $words[2] --help 2>/dev/null </dev/null)
    set -l name '[A-Za-z0-9._@/+-]+'
    set -l listed
    if string match -q -- '-*' (commandline -ct)
        string join \n -- $usage | grep -oE '(^|[[ ,|(])--?[a-zA-Z][a-z-]*' | tr -d '[ ,|('
    else if string match -q -- '*PID|NAME*' "$usage"
        # Behind a NAME the ids of its requests.
        if string match -qr -- '\|(NAME|SOCKET) ID' "$usage"; and not string match -q -- '-*' $words[-1]
            set listed (cancelctl ls --json $words[-1] 2>/dev/null </dev/null | grep -oE '"id": *"'$name'"')
        end
        if test -z "$listed"
            set listed (cancelctl ls --json 2>/dev/null </dev/null | sed 's/^{//; s/{[^{}]*}//g' |
                grep -oE '"pid": *[0-9]+|"name": *"'$name'"')
        end
        string join \n -- $listed | sed 's/.*: *//' | tr -d '"'
    else if string match -q -- '*CLIENT*' "$usage"
        set listed (cancelctl wrap --list --json 2>/dev/null </dev/null |
            sed -nE 's/^\{"client": *"([a-z-]+)".*"server": *"('$name')".*/\1:\2/p')
        if not string match -q -- '*CLIENT:SERVER*' "$usage"
            set listed (string split : -- $listed)
        end
        string join \n -- $listed
    end
end

complete -c cancelctl -n __fish_use_subcommand -x -a '(__cancelctl_commands)'
complete -c cancelctl -n 'not __fish_use_subcommand' -a '(__cancelctl_words)'
