import type { Command } from '../src/cli/command.ts'
import { whatOf, writtenOf } from '../src/cli/help.ts'
import { json, type Option, usageLine } from '../src/cli/options.ts'
import { exitCodes, sections } from '../src/cli/table.ts'

/** The command line on one page, from its table alone. */
export function cliPage() {
  return [
    '# The command line',
    '',
    '`assay` stands for `npm run --silent assay --` in the project’s folder, for `bin/assay.mjs`, or for what `npm link` installs.',
    'This page is made from `src/cli/table.ts` by `npm run generate`; `assay help` and `assay help COMMAND` say the same.',
    '',
    'Commands that **use the API** find the service by `--url`, `ASSAY_URL` or `base_url` in `DATA_DIR/credentials.json`, and their key by',
    '`--key-file`, `ASSAY_API_KEY` or `ASSAY_MANAGEMENT_KEY`, or that file, whose keys go to its own `base_url` only. All others work on the',
    'database with the settings of the service ([config.md](config.md)), beside a running service or without one; a change leaves an audit row.',
    'Keys belong into the environment or a file: other people on the machine can read arguments.',
    '',
    'With `--json` the result is JSON on standard output, one line for each where there is no end; progress and warnings go to standard',
    'error, and so does an error: `{ "error": { "type", "message" } }`. `assay help --json` is this page for programs.',
    '',
    '| Exit code | Means |',
    '|---|---|',
    ...Object.entries(exitCodes).map(([code, meaning]) => `| ${code} | ${meaning} |`),
    '',
    ...Object.entries(sections).flatMap(([title, rows]) => [`## ${title}`, '', ...rows.flatMap(partOf)]),
  ].join('\n')
}

const partOf = ({ name, summary, options, examples = [] }: Command) => [
  `### assay ${name}`,
  '',
  summary,
  '',
  '```sh',
  ...(examples.length ? examples : [usageLine(name, options)]),
  '```',
  '',
  '| Option | Meaning |',
  '|---|---|',
  ...Object.entries({ ...options, json }).map(
    ([option, row]: [string, Option]) => `| \`${cell(writtenOf(option, row))}\` | ${whatOf(row)} |`,
  ),
  '',
]

const cell = (text: string) => text.replaceAll('|', '\\|')
