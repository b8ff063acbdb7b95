# Completion of canceld for fish: its options, as canceld itself tells them, their values, then the server's command with
# its own completion.

# Whether no command stands before the cursor.
function __canceld_has_no_command
    set -l words (commandline -opc)
    set -e words[1]
    while set -q words[1]
        if contains -- $words[1] $__canceld_valued
            set -e words[1]
        else if test $words[1] = -- || not string match -q -- '-*' $words[1]
            return 1
        end
        set -q words[1]; and set -e words[1]
    end
    return 0
end

set -g __canceld_valued
# An explanation of several lines becomes one; only options begin with a blank.
set -l help (canceld --help 2>/dev/null | string collect)
for line in (string replace -ra '\n {27}' '  ' -- $help | string match -- ' *')
    set -l parts (string match -r -- '^ +((?:-[A-Za-z])?)(?:, )?((?:--[a-z-]+)?)(.*)$' $line)
    set -l value (string replace -r -- '  .*' '' $parts[4] | string trim)
    set -l option
    test -n "$parts[2]"; and set -a option -s (string sub -s 2 -- $parts[2])
    test -n "$parts[3]"; and set -a option -l (string sub -s 3 -- $parts[3])
    switch "$value"
        case '' '[=*'
        case '*|*'
            set -a option -x -a (string replace -a '|' ' ' -- $value)
        case FILE PATH
            set -a option -r -F
        case '*'
            set -a option -x
    end
    string match -qr -- '^[^[]|^\[M' "$value"; and set -a __canceld_valued (string match -- '-*' $parts[2..3])
    complete -c canceld -n __canceld_has_no_command $option \
        -d (string replace -r -- '^.*?  +' '' $parts[4] | string replace -r -- '(;| \().*' '' | string replace -a '  ' ' ')
end
complete -c canceld -x -a "(__fish_complete_subcommand $__canceld_valued)"
