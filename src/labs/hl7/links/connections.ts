import { readFileSync } from 'node:fs'
import { join } from 'node:path/posix'
import type { Service } from '../../../platform/app.ts'
import { declareCache } from '../../../platform/caches.ts'
import { Problem, setupProblem } from '../../../platform/problem.ts'
import type { LabConnection } from '../../../platform/settings/lab-connections.ts'
import { SECOND } from '../../../platform/time.ts'
import type { MllpAddress } from '../mllp/client.ts'
import { loadProfile } from '../profiles/read.ts'
import type { Profile } from '../profiles/rules-profile.ts'
import type { SftpAddress } from '../sftp/client.ts'

type Receiving = {
  host: string
  port: number
  from: string[]
  tls: { cert: Buffer; key: Buffer; ca?: Buffer | undefined; subject?: string | undefined } | undefined
}

/** Where files are left and picked up, and how often and how many. */
export type SftpSite = SftpAddress & {
  orders: string
  results: string
  done: string
  pollMs: number
  settleMs: number
  maxBytes: number
  filesPerPoll: number
}

export type MllpLink = {
  slug: string
  profile: Profile
  sftp?: undefined
  send: MllpAddress & { timeoutMs: number; connections: number }
  receive: Receiving | undefined
}
export type SftpLink = { slug: string; profile: Profile; sftp: SftpSite; receive?: undefined }

/** The connection to a lab: its profile, and where messages are sent and received. */
export type Link = MllpLink | SftpLink

type Linked = Pick<Service, 'config' | 'caches'>

const openedLinks = declareCache((): { links?: Map<string, Link> } => ({}))

/** The connections of LAB_CONNECTIONS by the slug of the lab. Their files are read once. */
export function linksOf(app: Linked): Map<string, Link> {
  const cache = openedLinks(app)
  cache.links ??= openLinks(app.config.LAB_CONNECTIONS)
  return cache.links
}

export const linkTo = (app: Linked, slug: string) => (app.config.LAB_CONNECTIONS[slug] ? linksOf(app).get(slug) : undefined)

/** Reads the profiles and certificates. The error names the lab. */
export const openLinks = (connections: Record<string, LabConnection>) =>
  new Map(Object.entries(connections).map(([slug, connection]) => [slug, openLink(slug, connection)]))

function openLink(slug: string, { profile, send, receive, sftp }: LabConnection): Link {
  try {
    const common = { slug, profile: loadProfile(profile) }
    if (sftp) return { ...common, sftp: openSite(sftp) }
    if (!send) throw setupProblem('needs send or sftp')
    return { ...common, send: openAddress(send), receive: receive && { ...receive, tls: receive.tls && openCertificate(receive.tls) } }
  } catch (error) {
    const reason = error instanceof Problem ? error.message : `a file cannot be read (${(error as NodeJS.ErrnoException).code})`
    throw setupProblem(`LAB_CONNECTIONS.${slug}: ${reason}`)
  }
}

const openAddress = ({ timeout_seconds, tls, ...address }: NonNullable<LabConnection['send']>) => ({
  ...address,
  tls: tls && { ca: read(tls.ca), cert: read(tls.cert), key: read(tls.key) },
  timeoutMs: timeout_seconds * SECOND,
})

const openSite = ({ host, port, user, host_keys, password, passphrase, ...site }: NonNullable<LabConnection['sftp']>): SftpSite => ({
  ...{ host, port, user, password, passphrase },
  hostKeys: host_keys,
  privateKey: read(site.private_key),
  timeoutMs: site.timeout_seconds * SECOND,
  orders: site.orders,
  results: site.results,
  done: site.done ?? join(site.results, 'done'),
  pollMs: site.poll_seconds * SECOND,
  settleMs: site.settle_seconds * SECOND,
  maxBytes: site.max_file_mb * 1024 * 1024,
  filesPerPoll: site.files_per_poll,
})

const openCertificate = ({ cert, key, ca, subject }: NonNullable<NonNullable<LabConnection['receive']>['tls']>) => ({
  cert: readFileSync(cert),
  key: readFileSync(key),
  ca: read(ca),
  subject,
})

const read = (file: string | undefined) => (file === undefined ? undefined : readFileSync(file))
