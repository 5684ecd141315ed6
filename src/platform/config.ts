import { z } from 'zod'
import { environments, regions } from '../contract/common.ts'
import { ProjectId } from '../contract/delivery/pipelines.ts'
import { OAuthSettings } from '../contract/wearables/oauth-setting.ts'
import { setupProblem } from './problem.ts'

const whole = (low: number, high: number) =>
  z.coerce
    .number(`must be a whole number from ${low} to ${high}`)
    .int(`must be a whole number from ${low} to ${high}`)
    .min(low, `must be at least ${low}`)
    .max(high, `must be at most ${high}`)
const oneOf = <const V extends readonly [string, ...string[]]>(values: V) => z.enum(values, `must be one of ${values.join(', ')}`)
const url = (protocol: RegExp, text: string) => z.url({ protocol, error: text })
const network = z.union([z.cidrv4(), z.cidrv6()])
// A network of everybody would have callers say their own address.
const proxy = z.union([z.ipv4(), z.ipv6(), network]).refine((text) => !text.endsWith('/0'))
const listOf = (each: z.ZodType, text: string) =>
  z
    .string()
    .transform((text) => text.split(',').map((one) => one.trim()))
    .refine((list) => list.every((one) => each.safeParse(one).success), text)
    .default([])
const bootstrapKey = z.string().regex(/^[!-~]{8,200}$/, 'must have 8 to 200 visible characters and no space')

function jsonOf(text: string, context: z.RefinementCtx): unknown {
  try {
    return JSON.parse(text)
  } catch {
    context.addIssue({ code: 'custom', message: 'must be JSON' })
    return z.NEVER
  }
}

export const Settings = z.object({
  PORT: whole(0, 65_535).default(8080).describe('Where the API, the management API and the docs listen. 0 takes any free port.'),
  HOST: z.string().min(1).default('127.0.0.1').describe('The address to listen on; 0.0.0.0 in a container.'),
  PUBLIC_URL: url(/^https?$/, 'must be an http or https address')
    .transform((text) => text.replace(/\/+$/, ''))
    .optional()
    .describe('Base of every URL that is handed out. Default: http://HOST:PORT.'),
  TRUST_PROXY: listOf(proxy, 'must be addresses or networks of proxies, such as 127.0.0.1,10.20.0.0/16').describe(
    'Reverse proxies in front of the service, such as 127.0.0.1,10.20.0.0/16: who calls through them is told from their X-Forwarded-For, so that limits of sign-ins count callers and not the proxy. Default: none.',
  ),
  ENVIRONMENT: oneOf(environments).default('sandbox').describe('With REGION it names one of the four deployments.'),
  REGION: oneOf(regions).default('us').describe('With ENVIRONMENT it names one of the four deployments.'),
  DATABASE_URL: url(/^postgres(ql)?$/, 'must be a postgres:// address')
    .optional()
    .describe('PostgreSQL 15 or newer; unset means our own PostgreSQL in DATA_DIR.'),
  DATA_DIR: z
    .string()
    .min(1)
    .default('./data')
    .describe('Embedded database, generated keys and credentials.json (also with DATABASE_URL).'),
  ROLE: oneOf(['all', 'api', 'worker']).default('all').describe('`api` answers requests, `worker` runs the jobs, `all` does both.'),
  ENCRYPTION_KEY: z
    .string()
    .min(32, 'must have at least 32 characters; make one with: openssl rand -base64 32')
    .optional()
    .describe(
      'The key that wraps every data key; at least 32 random characters. Generated into DATA_DIR for the embedded sandbox, required in production and with DATABASE_URL.',
    ),
  BOOTSTRAP_TEAM_API_KEY: bootstrapKey.optional().describe('A fixed API key for the first team, for tests and containers.'),
  BOOTSTRAP_MANAGEMENT_KEY: bootstrapKey
    .optional()
    .describe('A fixed management key for the first organisation, for tests and containers.'),
  CONSENT_AGES: z
    .string()
    .regex(/^[A-Z]{2}=\d{1,2}(,[A-Z]{2}=\d{1,2})*$/, 'must be states with ages, such as AL=19,NE=19')
    .transform(
      (text): Record<string, number> => Object.fromEntries(text.split(',').map((pair) => [pair.slice(0, 2), Number(pair.slice(3))])),
    )
    .default({})
    .describe('From which age a patient needs no medical_proxy, by state, such as AL=19,NE=19. Default: 18 everywhere.'),
  CONSOLE_IDLE_MINUTES: whole(1, 1440)
    .default(30)
    .describe('A console session ends after so many minutes without a request of its person.'),
  CONSOLE_SESSION_HOURS: whole(1, 168).default(12).describe('A console session ends after so many hours, whatever it is used for.'),
  PASSWORD_COST: whole(10, 20)
    .default(15)
    .describe("What a guess of a person's password costs: two to its power is N of scrypt. At least 15 in production."),
  DATABASE_POOL_SIZE: whole(2, 200).default(10).describe('Connections to PostgreSQL that one process opens at most.'),
  EVENT_RETENTION_DAYS: whole(1, 3650).default(90).describe('How long events, messages that wait and attempts are kept.'),
  EVENT_MAX_KB: whole(16, 1024)
    .default(256)
    .describe('The largest event in kB of 1,024 bytes. Batches are divided; of anything else the largest lists and texts are left out.'),
  WEBHOOK_ALLOW_LOOPBACK: oneOf(['true', 'false'])
    .transform((text) => text === 'true')
    .optional()
    .describe('Whether webhooks and pipelines may go to this machine. Default: true in the sandbox, false in production.'),
  WEBHOOK_ALLOWED_NETWORKS: listOf(network, 'must be networks, such as 10.20.0.0/16,fd12::/48').describe(
    'Private networks that webhooks and pipelines may reach, such as 10.20.0.0/16,fd12::/48; addresses where clouds hand out credentials stay shut. Default: none.',
  ),
  PUBSUB_PROJECTS: listOf(
    z.union([z.literal('*'), ProjectId]),
    'must be ids of Google Cloud projects, such as harbour-events,harbour-lab, or *',
  ).describe(
    'Google Cloud projects in which the pipelines of every team may name a Pub/Sub topic, such as harbour-events,harbour-lab; * opens all that the identity of the service may publish to. Default: none.',
  ),
  PUBSUB_ENDPOINT: url(/^https?$/, 'must be an http or https address')
    .transform((text) => new URL(text).origin)
    .default('https://pubsub.googleapis.com')
    .describe(
      'Where Pub/Sub is reached; one of a region, such as https://us-east1-pubsub.googleapis.com, keeps the order of messages when another process goes on. http is for the emulator, without a token, and not in production.',
    ),
  OAUTH_SOURCES: z
    .string()
    .transform(jsonOf)
    .pipe(OAuthSettings)
    .default({})
    .describe(
      'Accounts of this deployment at wearable sources, as JSON by slug: {"fitbit":{"client_id":"…","client_secret":"…"}}. Addresses and scopes can be set too; see docs/sources.md. Default: none, so that teams bring their own.',
    ),
  LOG_LEVEL: oneOf(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
    .optional()
    .describe('How much is logged, as JSON lines on standard output. Default: info; on a terminal warn.'),
})

export type Config = z.output<typeof Settings>

/** Where the command line finds a service that it uses as a customer does. */
export const ClientSettings = z.object({
  ASSAY_URL: url(/^https?$/, 'must be an http or https address')
    .transform((text) => text.replace(/\/+$/, ''))
    .optional()
    .describe('Where the service is. Default: base_url in DATA_DIR/credentials.json.'),
  ASSAY_API_KEY: z.string().optional().describe('A team API key.'),
  ASSAY_MANAGEMENT_KEY: z.string().optional().describe('A management key.'),
})

/** The only reader of the environment. Every wrong setting is named, in one line. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const config = parsedBy(Settings, env)
  checkTogether(config)
  return config
}

export const readClientConfig = (env: NodeJS.ProcessEnv = process.env) =>
  parsedBy(ClientSettings.extend({ DATA_DIR: Settings.shape.DATA_DIR }), env)

function parsedBy<S extends z.ZodObject>(settings: S, env: NodeJS.ProcessEnv): z.output<S> {
  const given = Object.fromEntries(Object.keys(settings.shape).flatMap((name) => (env[name]?.trim() ? [[name, env[name].trim()]] : [])))
  const parsed = settings.safeParse(given)
  if (!parsed.success) throw setupProblem(parsed.error.issues.map((issue) => `${issue.path.join('.')} ${issue.message}`).join('; '))
  return parsed.data
}

function checkTogether(config: Config) {
  if (config.ENVIRONMENT === 'production' && config.PASSWORD_COST < 15)
    throw setupProblem('PASSWORD_COST must be at least 15 in production')
  if (config.ENVIRONMENT === 'production' && !config.PUBSUB_ENDPOINT.startsWith('https:'))
    throw setupProblem('PUBSUB_ENDPOINT must be an https address in production')
  if (config.ENCRYPTION_KEY) return
  if (config.ENVIRONMENT === 'production')
    throw setupProblem('ENCRYPTION_KEY is required in production; make one with: openssl rand -base64 32')
  if (config.DATABASE_URL) throw setupProblem('ENCRYPTION_KEY is required with DATABASE_URL; make one with: openssl rand -base64 32')
}

type Place = Pick<Config, 'ENVIRONMENT' | 'REGION'>

export const here = ({ ENVIRONMENT, REGION }: Place) => ({ environment: ENVIRONMENT, region: REGION })

export const deploymentName = ({ ENVIRONMENT, REGION }: Place) => `${ENVIRONMENT} ${REGION}`

/** Base of every URL that is handed out. */
export const publicUrl = ({ PUBLIC_URL, HOST, PORT }: Pick<Config, 'PUBLIC_URL' | 'HOST' | 'PORT'>) =>
  PUBLIC_URL ?? `http://${HOST}:${PORT}`

/** `sk_us_` in the US sandbox, `pk_eu_` in European production. */
export const teamKeyPrefix = ({ ENVIRONMENT, REGION }: Place) => `${ENVIRONMENT === 'sandbox' ? 'sk' : 'pk'}_${REGION}_`

/** `lks_us_` in the US sandbox, `lkp_eu_` in European production. */
export const labKeyPrefix = ({ ENVIRONMENT, REGION }: Place) => `${ENVIRONMENT === 'sandbox' ? 'lks' : 'lkp'}_${REGION}_`
