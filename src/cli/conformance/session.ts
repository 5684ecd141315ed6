type Reply = { status: number; headers: Headers; body: unknown }
type CallOptions = { body?: unknown; headers?: Record<string, string> }

/** The credential of a request. `none` sends no key. */
type Credential = 'team' | 'management' | 'none'

export type Session = {
  call(credential: Credential, method: string, path: string, options?: CallOptions): Promise<Reply>
  /** The path parameters of management endpoints; undefined without a management key. */
  target: { org_id: string; team_id: string; env: string; region: string } | undefined
  /** IDs that earlier checks store for later ones. */
  ids: Record<string, string>
}

/** `spec` names the part of the specification that the check covers. */
export type Check = { name: string; spec: string; run(session: Session): Promise<void> }
export type Family = { name: string; checks: Check[] }

const SKIPPED = Symbol('skipped')

/** Skips a check that this server does not allow. A skipped check does not count. */
export const skip = (reason: string): never => {
  throw Object.assign(new Error(reason), { [SKIPPED]: true })
}

export const isSkipped = (error: unknown) => SKIPPED in (error as object)

/** Returns an ID that an earlier check stored, or skips this check. */
export const requireId = ({ ids }: Session, name: string): string => ids[name] ?? skip(`an earlier check did not provide ${name}`)

/** The text never repeats values, because they can be personal. */
export function assertThat(holds: unknown, text: string): asserts holds {
  if (!holds) throw new Error(text)
}

export function expectStatus({ status }: Reply, ...statuses: number[]) {
  assertThat(statuses.includes(status), `returned ${status} instead of ${statuses.join(' or ')}`)
}

export type Fields = Record<string, unknown>

export function fieldsOf(value: unknown, names: string[], what = 'the response'): Fields {
  assertThat(typeof value === 'object' && value !== null, `${what} is not an object`)
  const missing = names.filter((name) => !(name in value))
  assertThat(!missing.length, `${what} lacks ${missing.join(', ')}`)
  return value as Fields
}

export function listOf(value: unknown, what: string): Fields[] {
  assertThat(Array.isArray(value), `${what} is not a list`)
  return value as Fields[]
}

/** Every error is JSON with `detail`. */
export function expectRefusal(reply: Reply, ...statuses: number[]) {
  expectStatus(reply, ...statuses)
  return fieldsOf(reply.body, ['detail'], 'the error response')['detail']
}

type Keys = { base: string; team: Record<string, string>; management: Record<string, string> | undefined }

export function openSession({ base, team, management }: Keys, target: Session['target']): Session {
  const keys = { team, management: management ?? {}, none: {} }
  return {
    target,
    ids: { run: `conformance-${Date.now().toString(36)}` },
    async call(credential, method, path, { body, headers = {} } = {}) {
      if (credential === 'management' && !management) skip('there is no management key')
      const response = await fetch(base + path, {
        method,
        headers: { ...keys[credential], ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const isJson = response.headers.get('content-type')?.includes('json')
      const text = await response.text()
      return { status: response.status, headers: response.headers, body: isJson && text ? JSON.parse(text) : text }
    },
  }
}
