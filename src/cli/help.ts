import type { Command } from './command.ts'
import { json, type Option, optionText, usageLine } from './options.ts'
import { commands, exitCodes, sections } from './table.ts'

const footer = [
  '',
  'Run assay help COMMAND for the options of a command. Add --json for machine-readable output.',
  'Set environment variables to configure the service; docs/config.md lists them.',
]

export function helpOfAll() {
  const width = Math.max(...commands.map(({ name }) => name.length))
  const line = ({ name, summary }: Command) => `  assay ${name.padEnd(width)}  ${firstSentence(summary)}`
  return [
    'Usage: assay COMMAND',
    ...Object.entries(sections).flatMap(([title, rows]) => ['', `${title}:`, ...rows.map(line)]),
    ...footer,
  ].join('\n')
}

export const helpOfGroup = (rows: Command[]) =>
  [
    `Usage: assay ${rows[0]?.name.split(' ')[0]} COMMAND`,
    '',
    ...rows.map(({ name, options, summary }) =>
      [`  ${usageLine(name, options)}`, ...wrap(summary).map((line) => `      ${line}`)].join('\n'),
    ),
    ...footer,
  ].join('\n')

export function helpOf({ name, summary, options, examples = [] }: Command, others: Command[]) {
  const rows = Object.entries({ ...options, json }).map(
    ([option, row]: [string, Option]) => [optionText(option, row), optionHelp(row)] as const,
  )
  const width = Math.min(36, Math.max(...rows.map(([text]) => text.length)))
  return [
    usageLine(name, options),
    '',
    ...wrap(summary),
    '',
    'Options:',
    ...rows.map(([text, what]) =>
      text.length > width ? `  ${text}\n  ${' '.repeat(width)}  ${what}` : `  ${text.padEnd(width)}  ${what}`,
    ),
    ...(examples.length ? ['', 'Examples:', ...examples.map((example) => `  ${example}`)] : []),
    ...(others.length ? ['', 'See also:', ...others.map((other) => `  assay ${other.name}  ${firstSentence(other.summary)}`)] : []),
  ].join('\n')
}

export const optionHelp = ({ what, required, many, fallback }: Option) =>
  [what, ...(required ? ['Required.'] : []), ...(many ? ['Repeatable.'] : []), ...(fallback ? [`Default: ${fallback}.`] : [])].join(' ')

/** The commands as JSON, for programs. */
export const helpAsJson = (rows: Command[]) => ({
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

const WIDTH = 100

/** Breaks a text into lines between words. */
function wrap(text: string) {
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1) as string
    if (last && last.length + 1 + word.length > WIDTH) lines.push(word)
    else lines[lines.length - 1] = last ? `${last} ${word}` : word
  }
  return lines
}

const firstSentence = (text: string) => /^.*?[.:;](?= |$)/.exec(text)?.[0].replace(/[:;]$/, '.') ?? text
