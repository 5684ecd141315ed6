import type { Command } from '../src/cli/command.ts'
import { optionHelp } from '../src/cli/help.ts'
import { json, type Option, optionText, usageLine } from '../src/cli/options.ts'
import { commands, exitCodes, sections } from '../src/cli/table.ts'
import { bullets, code, inlineCode, prose, table, wrap } from './markdown.ts'

export const cliPage = () =>
  [
    '# CLI reference',
    '',
    ...prose(
      '`assay` runs and operates the service, and calls its API. In a clone of the repository, run `bin/assay.mjs` or `npm run --silent assay --`; `npm link` installs the `assay` command.',
      'This page is generated from `src/cli/table.ts` by `npm run generate`. `assay help` and `assay help COMMAND` print the same information.',
    ),
    '## Credentials',
    '',
    ...prose('Commands with a `--url` option call the API:'),
    ...bullets([
      'They take the URL from `--url`, from `ASSAY_URL`, or from `base_url` in `DATA_DIR/credentials.json`.',
      'They take the key from `--key-file`, from `ASSAY_API_KEY` or `ASSAY_MANAGEMENT_KEY`, or from the same file.',
      'Keys from `credentials.json` are sent only to the `base_url` of that file.',
    ]),
    ...prose(
      'All other commands work on the database with the [settings](config.md) of the service, whether or not the service is running. Each change adds a row to the audit log.',
      'Pass keys in the environment or in a file. Other users of the machine can read command arguments.',
    ),
    '## Output',
    '',
    ...bullets([
      'With `--json` the result is JSON on standard output. Commands that follow events print one JSON line per event.',
      'Progress, warnings and errors go to standard error. With `--json` an error is `{ "error": { "type", "message" } }`.',
      'On a terminal, lists have column names and a count. In a pipe every line is a row, and `-` marks an empty cell.',
      '`assay help --json` prints all commands and options as JSON.',
    ]),
    ...table(['Exit code', 'Meaning'], Object.entries(exitCodes)),
    ...tour,
    ...Object.entries(sections).flatMap(([title, rows]) => [`## ${title}`, '', ...rows.flatMap(partOf)]),
  ].join('\n')

const tour = `## Example session

Start the service with \`npm start\`. Then create a user, place an order, simulate its results, read the events and move
the sandbox clock:

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

const names = commands.map(({ name }) => `assay ${name}`).sort((a, b) => b.length - a.length)

const markCommands = (text: string) => inlineCode(text.replace(new RegExp(names.join('|'), 'g'), code))

const partOf = ({ name, summary, options, examples = [] }: Command) => [
  `### assay ${name}`,
  '',
  ...wrap(markCommands(summary)),
  '',
  '```text',
  usageLine(name, options),
  '```',
  '',
  ...(examples.length ? [examples.length > 1 ? 'Examples:' : 'Example:', '', '```text', ...examples, '```', ''] : []),
  ...table(
    ['Option', 'Description'],
    Object.entries({ ...options, json }).map(([option, row]: [string, Option]) => [
      code(optionText(option, row)),
      markCommands(optionHelp(row)),
    ]),
  ),
]
