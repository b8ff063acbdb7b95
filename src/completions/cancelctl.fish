# Completion of cancelctl for fish. cancelctl itself tells its commands and their options.

function __cancelctl_commands
    cancelctl help 2>/dev/null | string replace -rf '^  ([a-z][a-z-]*).*' '$1'
end

function __cancelctl_options
    set -l words (commandline -opc)
    cancelctl $words[2] --help 2>/dev/null </dev/null | grep -oE '(^|[[ ,|(])--?[a-zA-Z][a-z-]*' | tr -d '[ ,|('
end

complete -c cancelctl -n __fish_use_subcommand -x -a '(__cancelctl_commands)'
complete -c cancelctl -n 'not __fish_use_subcommand; and string match -q -- "-*" (commandline -ct)' -a '(__cancelctl_options)'
