import type { Options, Values } from './options.ts'

/** One command. Help, completion and docs/cli.md are generated from it. */
export type Command = {
  /** One word, or a group and a verb. */
  name: string
  summary: string
  options: Options
  examples?: readonly string[]
  run(values: never): Promise<void>
}

/** Types the values of `run` by `options`. Every command also has --json. */
export const command = <const O extends Options>(
  row: Omit<Command, 'options' | 'run'> & { options: O; run(values: Values<O>): Promise<void> },
): Command => row

/** Prints the result as JSON or as lines of text. */
export function print(json: boolean, result: unknown, lines: string[]) {
  if (json) console.log(JSON.stringify(result, null, 2))
  else if (lines.length) console.log(withoutControls(lines.join('\n')))
}

/** Names come from users and can contain control characters that affect the terminal. */
const withoutControls = (text: string) => text.replace(/[^\P{Cc}\n\t]/gu, '�')
