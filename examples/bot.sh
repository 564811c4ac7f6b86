#!/bin/sh
# A program that plays, in a shell: noughts play --o "program:sh examples/bot.sh". It takes the first free cell.
while read -r word board _; do
    case $word in
    noughts) echo "name first" ;;
    position)
        before=${board%%_*}
        echo "move $(($(printf %s "$before" | tr -d / | wc -c) + 1))"
        ;;
    bye) exit ;;
    esac
done
