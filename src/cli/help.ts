import type { Command } from './command.ts'
import { json, type Option, usageLine } from './options.ts'
import { commands, exitCodes, sections } from './table.ts'

const last = [
  '',
  'assay help COMMAND tells more of each. Settings come from the environment; docs/config.md lists them.',
  'Add --json for machine-readable output. docs/cli.md has all of this on one page.',
]

export function helpOfAll() {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const line = ({ name, summary }: Command) => `  assay ${name.padEnd(width)}  ${firstSentence(summary)}`
  return [
    'Usage: assay COMMAND',
    ...Object.entries(sections).flatMap(([title, rows]) => ['', `${title}:`, ...rows.map(line)]),
    ...last,
  ].join('\n')
}

export const helpOfGroup = (rows: Command[]) =>
  [
    'Usage: assay COMMAND',
    '',
    ...rows.map(({ name, options, summary }) => `  ${usageLine(name, options)}\n      ${summary}`),
    ...last,
  ].join('\n')

export function helpOf({ name, summary, options, examples = [] }: Command, others: Command[] = []) {
  const rows = Object.entries({ ...options, json }).map(([option, row]: [string, Option]) => [writtenOf(option, row), whatOf(row)] as const)
  const width = Math.min(36, Math.max(...rows.map(([text]) => text.length)))
  return [
    usageLine(name, options),
    '',
    summary,
    '',
    'Options:',
    ...rows.map(([text, what]) =>
      text.length > width ? `  ${text}\n  ${' '.repeat(width)}  ${what}` : `  ${text.padEnd(width)}  ${what}`,
    ),
    ...(examples.length ? ['', 'Examples:', ...examples.map((example) => `  ${example}`)] : []),
    ...(others.length ? ['', 'See also:', ...others.map((other) => `  assay ${other.name}  ${firstSentence(other.summary)}`)] : []),
  ].join('\n')
}

export const writtenOf = (option: string, { value }: Option) => (value ? `--${option} ${value}` : `--${option}`)

export const whatOf = ({ what, required, many, fallback }: Option) =>
  [what, ...(required ? ['Required.'] : []), ...(many ? ['May be repeated.'] : []), ...(fallback ? [`Default ${fallback}.`] : [])].join(' ')

/** The table itself, for programs. */
export const shownAsJson = (rows: Command[]) => ({
  commands: rows.map(({ name, summary, options, examples = [] }) => ({
    name,
    usage: usageLine(name, options),
    summary,
    options: Object.entries({ ...options, json }).map(([option, row]: [string, Option]) => ({
      name: option,
      value: row.value ?? null,
      what: row.what,
      required: row.required ?? false,
      repeatable: row.many ?? false,
      default: row.fallback ?? null,
      one_of: row.oneOf ?? null,
    })),
    examples,
  })),
  exit_codes: exitCodes,
})

const firstSentence = (text: string) => /^.*?[.:;](?= |$)/.exec(text)?.[0].replace(/[:;]$/, '.') ?? text
