# SPDX-License-Identifier: Apache-2.0
# Completion of vinci for fish. The program is asked for its words: verbs, commands of a verb, options.

function __vinci_words
    set -l before
    for word in (commandline -opc)[2..]
        string match -qr '^[a-z]' -- $word; and test (count $before) -lt 2; or break
        set -a before $word
    end
    set -l words (command vinci help --words $before 2>/dev/null)
    # What follows a verb is a command, or else an argument of the verb.
    if test -z "$words"; and test (count $before) -eq 2
        set words (command vinci help --words $before[1] 2>/dev/null)
    end
    printf '%s\n' $words
end
complete -c vinci -a '(__vinci_words)'
