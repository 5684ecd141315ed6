import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { type Client, createClient } from '../contract/client.ts'
import { readClientConfig } from '../platform/config.ts'
import { setupProblem } from '../platform/problem.ts'
import { type Options, usageError } from './options.ts'

export const HttpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL.' })

export const Count = z
  .string()
  .regex(/^-?\d+$/, 'must be a whole number.')
  .transform(Number)
  .pipe(z.int('must be a whole number.').min(0, 'must not be negative.'))

const Url = HttpUrl.transform((text) => text.replace(/\/+$/, ''))

/** The options of every command that calls the API. */
export const serviceOptions = {
  url: { value: 'URL', what: 'URL of the service. Default: ASSAY_URL, or base_url of credentials.json.', shape: Url },
  'key-file': {
    value: 'FILE',
    what: 'File that contains only the key. Default: the key in the environment, or in credentials.json.',
    file: true,
  },
} as const satisfies Options

type ServiceOptions = { url: string | undefined; 'key-file': string | undefined; key?: string | undefined }
type StoredCredentials = { base_url?: string; org_id?: string; team_id?: string; team_api_key?: string; management_key?: string }

export type Service = { base: string; key: string; api: Client; stored: StoredCredentials }

/** The service, called with a team API key. */
export const asTeam = (options: ServiceOptions) => serviceFor(options, 'team_api_key', 'ASSAY_API_KEY', 'x-service-api-key')

/** The service, called with a management key. */
export const asManager = (options: ServiceOptions) => serviceFor(options, 'management_key', 'ASSAY_MANAGEMENT_KEY', 'x-management-key')

type KeyName = 'team_api_key' | 'management_key'

/** The URL of the service that the operator named, or that runs with the same DATA_DIR. */
export function knownServiceUrl() {
  const { ASSAY_URL, DATA_DIR } = readClientConfig()
  return ASSAY_URL ?? readCredentials(DATA_DIR).base_url
}

function serviceFor(options: ServiceOptions, name: KeyName, setting: 'ASSAY_API_KEY' | 'ASSAY_MANAGEMENT_KEY', header: string): Service {
  const config = readClientConfig()
  const credentials = readCredentials(config.DATA_DIR)
  const base = options.url ?? knownServiceUrl()
  if (!base) throw usageError(`Pass --url or set ASSAY_URL: ${join(config.DATA_DIR, 'credentials.json')} has no base_url.`)
  // Stored keys go only to the service that stored them.
  const stored = base === credentials.base_url ? credentials : {}
  const key = options.key ?? (options['key-file'] ? readKey(options['key-file']) : (config[setting] ?? stored[name]))
  if (!key) throw usageError(`No key for ${base}: set ${setting}, or pass --key-file.`)
  return { base, key, api: createClient(base, { [header]: key }), stored }
}

/** The management key for a service, if there is one. */
export function managementKey(base: string, file: string | undefined) {
  if (file) return readKey(file)
  const { ASSAY_MANAGEMENT_KEY, DATA_DIR } = readClientConfig()
  const stored = readCredentials(DATA_DIR)
  return ASSAY_MANAGEMENT_KEY ?? (stored.base_url === base ? stored.management_key : undefined)
}

function readCredentials(dataDir: string): StoredCredentials {
  try {
    return JSON.parse(readFileSync(join(dataDir, 'credentials.json'), 'utf8')) as StoredCredentials
  } catch {
    return {}
  }
}

function readKey(path: string) {
  const text = readText(path).trim()
  if (!/^\S+$/.test(text)) throw setupProblem('The file of --key-file must contain one key and nothing else')
  return text
}

/** Reads a file, or standard input if the path is `-`. */
export function readText(path: string) {
  try {
    return stripByteOrderMark(readFileSync(path === '-' ? 0 : path, 'utf8'))
  } catch (error) {
    throw unreadableFile(error as NodeJS.ErrnoException)
  }
}

/** The message does not repeat the path, because it can contain a key. */
export const unreadableFile = ({ code }: NodeJS.ErrnoException) =>
  setupProblem(code === 'ENOENT' ? 'The file does not exist. Check the path.' : `The file cannot be read: ${code}`)

/** Some editors start a UTF-8 file with a byte order mark. */
export const stripByteOrderMark = (text: string) => text.replace(/^\uFEFF/, '')

export function readJson(path: string): unknown {
  try {
    return JSON.parse(readText(path))
  } catch (error) {
    if (error instanceof SyntaxError) throw setupProblem('The file is not JSON')
    throw error
  }
}
