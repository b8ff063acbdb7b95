# Completion of cancelctl for fish. cancelctl itself tells its commands, their options, and what runs.

function __cancelctl_commands
    cancelctl help 2>/dev/null | string replace -rf '^  ([a-z][a-z-]*).*' '$1'
end

function __cancelctl_words
    set -l words (commandline -opc)
    set -l usage (cancelctl $words[2] --help 2>/dev/null </dev/null)
    if string match -q -- '-*' (commandline -ct)
        string join \n -- $usage | grep -oE '(^|[[ ,|(])--?[a-zA-Z][a-z-]*' | tr -d '[ ,|('
    else if string match -q -- '*PID|NAME*' "$usage"
        cancelctl ls --json 2>/dev/null </dev/null | sed 's/^{//; s/{[^{}]*}//g' |
            grep -oE '"pid": *[0-9]+|"name": *"[A-Za-z0-9._@/+-]+"' | sed 's/.*: *//' | tr -d '"'
    end
end

complete -c cancelctl -n __fish_use_subcommand -x -a '(__cancelctl_commands)'
complete -c cancelctl -n 'not __fish_use_subcommand' -a '(__cancelctl_words)'
