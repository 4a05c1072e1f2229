# SPDX-License-Identifier: Apache-2.0
# Completion of vinci for fish. The program is asked for its words: verbs, commands of a verb, options,
# chips, operators and their keys.

function __vinci_words
    set -l before
    for word in (commandline -opc)[2..]
        string match -qr '^[a-z]' -- $word; and test (count $before) -lt 3; or break
        set -a before $word
    end
    set -l words (command vinci help --words $before[1..2] 2>/dev/null)
    # What follows a verb is a command, or else an argument of the verb.
    if test -z "$words"; and test (count $before) -ge 2
        set words (command vinci help --words $before[1] 2>/dev/null)
    end
    printf '%s\n' $words
    command vinci help --choices $before 2>/dev/null
end
complete -c vinci -s s -l soc-version -x -a '(command vinci help --choices run -s)'
complete -c vinci -a '(__vinci_words)'
