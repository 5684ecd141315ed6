import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { inject } from 'vitest'
import { localOnly } from './process.ts'

/** The hosts of the databases that the environment names, such as TEST_DATABASE_URL. */
const chosenHosts = () =>
  Object.entries(process.env).flatMap(([name, value = '']) => (name.startsWith('TEST_') ? (URL.parse(value)?.hostname ?? []) : []))

const logFile = () => join(inject('logs'), `contacts-${process.pid}.log`)

/** Lets this process, and the Node processes that it starts, contact only this machine. */
export async function guardContacts() {
  const guard = new URL('./local-only.mjs', import.meta.url)
  guard.searchParams.set('log', logFile())
  for (const host of chosenHosts()) guard.searchParams.append('allow', host)
  await import(guard.href)
  process.env['NODE_OPTIONS'] = `--import=${guard.href}`
  Object.assign(process.env, localOnly)
}

/** The contacts that were refused since the last call. */
export function takeContacts() {
  if (!existsSync(logFile())) return ''
  const contacts = readFileSync(logFile(), 'utf8')
  rmSync(logFile())
  return contacts
}

export function failOnContacts() {
  const contacts = takeContacts()
  if (contacts) throw new Error(contacts)
}
