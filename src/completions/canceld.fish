# Completion of canceld for fish: its options, their values, then the server's command with its own completion.

# Whether no command stands before the cursor.
function __canceld_has_no_command
    set -l words (commandline -opc)
    set -e words[1]
    while set -q words[1]
        switch $words[1]
            case --
                return 1
            case @valued_words@
                set -e words[1]
            case '-*'
            case '*'
                return 1
        end
        set -q words[1]; and set -e words[1]
    end
    return 0
end

complete -c canceld -x -a '(__fish_complete_subcommand @valued_words@)'
@fish_options@
