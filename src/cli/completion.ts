import { type Command, command, print } from './command.ts'
import { json, type Option } from './options.ts'

type Table = () => Command[]

const shells = { bash: bashScript, zsh: zshScript, fish: fishScript }

const setupLines: Record<keyof typeof shells, string> = {
  bash: 'source <(assay completion bash)',
  zsh: 'source <(assay completion zsh)',
  fish: 'assay completion fish | source',
}

/** One command per shell. They read the table when they run, because the table contains them. */
export const completions = (table: Table) =>
  (Object.keys(shells) as (keyof typeof shells)[]).map((shell) =>
    command({
      name: `completion ${shell}`,
      summary: `Print the completion script for ${shell}.`,
      options: {},
      examples: [setupLines[shell]],
      run: async ({ json }) => {
        const script = shells[shell](table())
        print(json, { shell, script }, [script])
      },
    }),
  )

const firstWords = (rows: Command[]) => [...new Set(rows.map(({ name }) => name.split(' ')[0] as string)), 'help']

const verbsOf = (rows: Command[], group: string) =>
  rows.flatMap(({ name }) => (name.startsWith(`${group} `) ? [name.split(' ')[1] as string] : []))

const optionsOf = ({ options }: Command): [string, Option][] => Object.entries({ ...options, json })

function bashScript(rows: Command[]) {
  const groups = firstWords(rows).flatMap((group) =>
    verbsOf(rows, group).length ? [`    ${group}) words='${verbsOf(rows, group).join(' ')}' ;;`] : [],
  )
  const options = rows.map(
    (row) =>
      `    '${row.name}') options='${optionsOf(row)
        .map(([name]) => `--${name}`)
        .join(' ')}' ;;`,
  )
  const values = rows.flatMap((row) =>
    optionsOf(row).flatMap(([name, { oneOf, file }]) => {
      if (oneOf) return [`    '${row.name} --${name}') values='${oneOf.join(' ')}' ;;`]
      return file ? [`    '${row.name} --${name}') COMPREPLY=($(compgen -f -- "$word")); return ;;`] : []
    }),
  )
  return `# bash completion of assay
_assay() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" first="\${COMP_WORDS[1]}" second="\${COMP_WORDS[2]}"
  local words='' options='' values='' command
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${firstWords(rows).join(' ')}' -- "$word"))
    return
  fi
  case "$first" in
    help) words='${firstWords(rows).join(' ')}' ;;
${groups.join('\n')}
  esac
  command="$first"
  case "$second" in
    ''|-*) ;;
    *) [ -n "$words" ] && command="$first $second" ;;
  esac
  case "$command $before" in
${values.join('\n')}
  esac
  if [ -n "$values" ]; then
    COMPREPLY=($(compgen -W "$values" -- "$word"))
    return
  fi
  case "$command" in
${options.join('\n')}
  esac
  if [ "$COMP_CWORD" -eq 2 ]; then
    case "$word" in
      -*) ;;
      *) options="$words $options" ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$options" -- "$word"))
}
complete -F _assay assay`
}

const replaceSpecialCharacters = (text: string) => text.replaceAll("'", '’').replaceAll('[', '(').replaceAll(']', ')').replaceAll(':', ',')

function zshScript(rows: Command[]) {
  const groups = firstWords(rows).flatMap((group) =>
    verbsOf(rows, group).length ? [`    ${group}) verbs=(${verbsOf(rows, group).join(' ')}) ;;`] : [],
  )
  const argument = ([name, { value, what, oneOf, file, many }]: [string, Option]) => {
    const suffix = oneOf ? `:value:(${oneOf.join(' ')})` : file ? ':file:_files' : value ? ':value:' : ''
    return `'${many ? '*' : ''}--${name}[${replaceSpecialCharacters(what)}]${suffix}'`
  }
  const options = rows.map((row) => `    '${row.name}') _arguments ${optionsOf(row).map(argument).join(' ')} ;;`)
  return `#compdef assay
# zsh completion of assay
_assay() {
  local -a verbs
  local command="\${words[2]}"
  if (( CURRENT == 2 )); then
    compadd -- ${firstWords(rows).join(' ')}
    return
  fi
  case "\${words[2]}" in
    help) verbs=(${firstWords(rows).join(' ')}) ;;
${groups.join('\n')}
  esac
  if (( CURRENT == 3 && \${#verbs} )) && [[ "\${words[3]}" != -* ]]; then
    compadd -- $verbs
    return
  fi
  if (( \${#verbs} )) && [[ "\${words[3]}" != -* ]]; then
    command="\${words[2]} \${words[3]}"
  fi
  case "$command" in
${options.join('\n')}
  esac
}
compdef _assay assay`
}

function fishScript(rows: Command[]) {
  const first = firstWords(rows).map((word) => `complete -c assay -n __fish_use_subcommand -a ${word}`)
  const second = firstWords(rows).flatMap((group) => {
    const groupVerbs = verbsOf(rows, group)
    const noVerb = groupVerbs.map((verb) => `not __fish_seen_subcommand_from ${verb}`).join('; and ')
    return groupVerbs.length
      ? [`complete -c assay -n '__fish_seen_subcommand_from ${group}; and ${noVerb}' -a '${groupVerbs.join(' ')}'`]
      : []
  })
  const options = rows.flatMap((row) => {
    const condition = row.name
      .split(' ')
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join('; and ')
    return optionsOf(row).map(([name, { value, what, oneOf, file }]) => {
      const suffix = `${value ? ' -r' : ''}${file ? ' -F' : ''}${oneOf ? ` -a '${oneOf.join(' ')}'` : ''}`
      return `complete -c assay -n '${condition}' -l ${name}${suffix} -d '${replaceSpecialCharacters(what)}'`
    })
  })
  return ['# fish completion of assay', 'complete -c assay -f', ...first, ...second, ...options].join('\n')
}
