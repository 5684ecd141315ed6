import { readFileSync } from 'node:fs'
import type { Service } from '../../../platform/app.ts'
import { declareCache } from '../../../platform/caches.ts'
import { Problem, setupProblem } from '../../../platform/problem.ts'
import type { LabConnection } from '../../../platform/settings/lab-connections.ts'
import { SECOND } from '../../../platform/time.ts'
import type { MllpAddress } from '../mllp/client.ts'
import { loadProfile } from '../profiles/read.ts'
import type { Profile } from '../profiles/rules-profile.ts'

type Receiving = {
  host: string
  port: number
  from: string[]
  tls: { cert: Buffer; key: Buffer; ca?: Buffer | undefined; subject?: string | undefined } | undefined
}

/** The connection to a lab: its profile, and where messages are sent and received. */
export type Link = { slug: string; profile: Profile; send: MllpAddress & { timeoutMs: number }; receive: Receiving | undefined }

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

function openLink(slug: string, { profile, send, receive }: LabConnection): Link {
  try {
    const { timeout_seconds, tls, ...address } = send
    return {
      slug,
      profile: loadProfile(profile),
      send: {
        ...address,
        tls: tls && { ca: read(tls.ca), cert: read(tls.cert), key: read(tls.key) },
        timeoutMs: timeout_seconds * SECOND,
      },
      receive: receive && { ...receive, tls: receive.tls && openCertificate(receive.tls) },
    }
  } catch (error) {
    const reason = error instanceof Problem ? error.message : `a file cannot be read (${(error as NodeJS.ErrnoException).code})`
    throw setupProblem(`LAB_CONNECTIONS.${slug}: ${reason}`)
  }
}

const openCertificate = ({ cert, key, ca, subject }: NonNullable<NonNullable<LabConnection['receive']>['tls']>) => ({
  cert: readFileSync(cert),
  key: readFileSync(key),
  ca: read(ca),
  subject,
})

const read = (file: string | undefined) => (file === undefined ? undefined : readFileSync(file))
