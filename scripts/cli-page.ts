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
    'Lists name their columns and how many there are on a terminal only; in a pipe every line is a row, and `-` is an empty cell.',
    '',
    '| Exit code | Means |',
    '|---|---|',
    ...Object.entries(exitCodes).map(([code, meaning]) => `| ${code} | ${meaning} |`),
    '',
    ...tour,
    ...Object.entries(sections).flatMap(([title, rows]) => [`## ${title}`, '', ...rows.flatMap(partOf)]),
  ].join('\n')
}

/** What can be tried word by word beside a fresh `npm start`. */
const tour = `## A tour

A user, an order from a file, its results, what was told, and eight days on the team's clock:

\`\`\`sh
USER_ID=$(assay users create --client-user-id patient-17 --time-zone America/New_York)
cat > order.json <<'END'
{
  "order_set": { "lab_test_ids": ["f49f0523-b294-5a04-8de6-7a4ceb5d8762"] },
  "patient_details": { "first_name": "Odile", "last_name": "Fernsby", "dob": "1980-05-04", "gender": "female",
    "phone_number": "+12025550110", "email": "odile@example.org" },
  "patient_address": { "first_line": "12 Saltmarsh Lane", "city": "Phoenix", "state": "AZ", "zip": "85004", "country": "US" }
}
END
assay orders place --file order.json --user $USER_ID --check
ORDER_ID=$(assay orders place --file order.json --user $USER_ID --json | node -pe 'JSON.parse(require("fs").readFileSync(0)).id')
assay orders simulate --id $ORDER_ID --interpretation critical
assay events tail --after start --types 'labtest.*' --order $ORDER_ID --count 3
assay sandbox advance --days 8
assay doctor --quick
\`\`\`
`.split('\n')

const partOf = ({ name, summary, options, examples = [] }: Command) => [
  `### assay ${name}`,
  '',
  summary,
  '',
  '```text',
  usageLine(name, options),
  '```',
  '',
  ...(examples.length ? ['For example:', '', '```text', ...examples, '```', ''] : []),
  '| Option | Meaning |',
  '|---|---|',
  ...Object.entries({ ...options, json }).map(
    ([option, row]: [string, Option]) => `| \`${cell(writtenOf(option, row))}\` | ${whatOf(row)} |`,
  ),
  '',
]

const cell = (text: string) => text.replaceAll('|', '\\|')
