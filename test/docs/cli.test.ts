import { expect, test } from 'vitest'
import { parseOptions } from '../../src/cli/options.ts'
import { commands } from '../../src/cli/table.ts'
import { newUuid } from '../support/seeded.ts'

const examples = commands.flatMap(({ name, options, examples = [] }) => examples.map((line) => ({ line, name, options })))

/** The arguments after the command name, without shell syntax. */
const argumentsOf = (line: string, name: string) =>
  [
    ...(line.split(`assay ${name}`)[1] as string)
      .replace(/ \|.*|\)$/, '')
      .replaceAll(' ID', ` ${newUuid()}`)
      .replace(/\$\([^)]*\)/g, 'x')
      .matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g),
  ].map(([, single, double, bare]) => single ?? double ?? bare ?? '')

test.each(examples)('$line parses', ({ line, name, options }) => {
  expect(line).toContain(`assay ${name}`)
  expect(() => parseOptions(argumentsOf(line, name), options, line)).not.toThrow()
})
