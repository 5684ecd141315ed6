import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { commands } from '../../src/cli/table.ts'
import { newDatabase } from '../support/world.ts'
import { assay } from './assay.ts'

const cli = assay(await newDatabase())
const has = (shell: string) => spawnSync(shell, ['--version']).status === 0
const script = async (shell: string) => (await cli.run('completion', shell)).out

describe('bash', () => {
  /** What bash would offer for a line, the last word being typed. */
  const offered = async (...words: string[]) => {
    const asked = `COMP_WORDS=(${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${words.length - 1}; _assay; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', `${await script('bash')}\n${asked}`], { encoding: 'utf8' })
    expect(stderr).toBe('')
    return stdout.trim().split('\n')
  }

  test.skipIf(!has('bash'))('the script is right and offers commands, options and values', async () => {
    const { status, stderr } = spawnSync('bash', ['-n'], { input: await script('bash'), encoding: 'utf8' })
    expect([status, stderr]).toEqual([0, ''])
    expect(await offered('assay', '')).toEqual([...new Set(commands.map(({ name }) => name.split(' ')[0])), 'help'])
    expect(await offered('assay', 'key')).toEqual(['keys'])
    expect(await offered('assay', 'keys', 'r')).toEqual(['revoke'])
    expect(await offered('assay', 'keys', 'create', '--k')).toEqual(['--kind'])
    expect(await offered('assay', 'keys', 'create', '--kind', 'org')).toEqual(['org_admin'])
    expect(await offered('assay', 'org', '--pl')).toEqual(['--plan'])
    expect(await offered('assay', 'help', 'ord')).toEqual(['orders'])
  })
})

/** Of the shells that are here; the words of all of them are tested below. */
const others = [['zsh', '-n'] as const, ['fish', '--no-execute'] as const].filter(([shell]) => has(shell))

for (const [shell, parse] of others)
  test(`${shell}: the script is right`, async () => {
    expect(spawnSync(shell, [parse], { input: await script(shell), encoding: 'utf8' })).toMatchObject({ status: 0, stderr: '' })
  })

test.each(['bash', 'zsh', 'fish'])('%s: every command and option stands in the script', async (shell) => {
  const text = await script(shell)
  for (const { name, options } of commands) {
    for (const word of name.split(' ')) expect(text).toContain(word)
    for (const option of Object.keys(options)) expect(text).toContain(shell === 'fish' ? `-l ${option}` : `--${option}`)
  }
  expect((await cli.json('completion', shell)).script).toBe(text.trimEnd())
})
