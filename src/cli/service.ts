import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { type Client, createClient } from '../contract/client.ts'
import { readClientConfig } from '../platform/config.ts'
import { setupProblem } from '../platform/problem.ts'
import { usage } from './command.ts'
import type { Options } from './options.ts'

export const HttpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https address.' })

const Url = HttpUrl.transform((text) => text.replace(/\/+$/, ''))

/** The options of every command that calls the API. */
export const reach = {
  url: { value: 'URL', what: 'URL of the service. Default: ASSAY_URL, or base_url of credentials.json.', shape: Url },
  'key-file': {
    value: 'FILE',
    what: 'File that contains only the key. Default: the key in the environment, or in credentials.json.',
    file: true,
  },
} as const satisfies Options

type Reach = { url: string | undefined; 'key-file': string | undefined; key?: string | undefined }
type Kept = { base_url?: string; org_id?: string; team_id?: string; team_api_key?: string; management_key?: string }

export type Service = { base: string; key: string; api: Client; kept: Kept }

/** The service, called with a team API key. */
export const asTeam = (given: Reach) => serviceFor(given, 'team_api_key', 'ASSAY_API_KEY', 'x-service-api-key')

/** The service, called with a management key. */
export const asManager = (given: Reach) => serviceFor(given, 'management_key', 'ASSAY_MANAGEMENT_KEY', 'x-management-key')

type KeyName = 'team_api_key' | 'management_key'

function serviceFor(given: Reach, name: KeyName, setting: 'ASSAY_API_KEY' | 'ASSAY_MANAGEMENT_KEY', header: string): Service {
  const config = readClientConfig()
  const found = keptIn(config.DATA_DIR)
  const base = given.url ?? config.ASSAY_URL ?? found.base_url
  if (!base) throw usage(`Pass --url or set ASSAY_URL: ${join(config.DATA_DIR, 'credentials.json')} has no base_url.`)
  // Stored keys go only to the service that stored them.
  const kept = base === found.base_url ? found : {}
  const key = given.key ?? (given['key-file'] ? keyIn(given['key-file']) : (config[setting] ?? kept[name]))
  if (!key) throw usage(`No key for ${base}: set ${setting}, or pass --key-file.`)
  return { base, key, api: createClient(base, { [header]: key }), kept }
}

/** The management key for a service, if there is one. */
export function managementKey(base: string, file: string | undefined) {
  if (file) return keyIn(file)
  const { ASSAY_MANAGEMENT_KEY, DATA_DIR } = readClientConfig()
  const kept = keptIn(DATA_DIR)
  return ASSAY_MANAGEMENT_KEY ?? (kept.base_url === base ? kept.management_key : undefined)
}

function keptIn(dataDir: string): Kept {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8')) as Kept
  } catch {
    return {}
  }
}

function keyIn(path: string) {
  const text = readText(path).trim()
  if (!/^\S+$/.test(text)) throw setupProblem('The file of --key-file must contain one key and nothing else')
  return text
}

/** Reads a file, or standard input if the path is `-`. */
export function readText(path: string) {
  try {
    return withoutMark(readFileSync(path === '-' ? 0 : path, 'utf8'))
  } catch (error) {
    throw setupProblem(`The file cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}

/** Some editors start a UTF-8 file with a byte order mark. */
export const withoutMark = (text: string) => text.replace(/^\uFEFF/, '')

export function readJson(path: string): unknown {
  try {
    return JSON.parse(readText(path))
  } catch (error) {
    if (error instanceof SyntaxError) throw setupProblem('The file is not JSON')
    throw error
  }
}
