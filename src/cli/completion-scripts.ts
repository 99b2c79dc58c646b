/** What a shell is told once: each asks `escapement complete` for what fits, with the words that were typed. */
export const COMPLETION_SCRIPTS = {
  bash: `_escapement() {
  # A colon is part of a name, and no border between words, as bash would have it.
  local words cword
  if declare -F _get_comp_words_by_ref > /dev/null; then
    _get_comp_words_by_ref -n : words cword
  else
    words=("\${COMP_WORDS[@]}"); cword=$COMP_CWORD
  fi
  local IFS=$'\\n'
  COMPREPLY=($(escapement complete -- "\${words[@]:1:cword}" 2> /dev/null))
  if declare -F __ltrim_colon_completions > /dev/null; then
    __ltrim_colon_completions "\${words[cword]}"
  fi
}
complete -o default -F _escapement escapement`,
  zsh: `#compdef escapement
_escapement() {
  local -a found
  found=("\${(@f)$(escapement complete -- "\${(@)words[2,CURRENT]}" 2> /dev/null)}")
  found=(\${found:#})
  if (( \${#found} )); then compadd -- "\${found[@]}"; else _files; fi
}
compdef _escapement escapement`,
  fish: `function __escapement_complete
  set -l words (commandline -opc) (commandline -ct)
  escapement complete -- $words[2..-1] 2> /dev/null
end
complete -c escapement -a '(__escapement_complete)'`,
} as const

export type Shell = keyof typeof COMPLETION_SCRIPTS
