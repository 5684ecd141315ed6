export type Answer = { status: number; headers: Headers; body: unknown }
type Sent = { body?: unknown; headers?: Record<string, string> }

/** Who asks. `anybody` sends no key. */
export type As = 'team' | 'management' | 'anybody'

export type Session = {
  call(as: As, method: string, path: string, sent?: Sent): Promise<Answer>
  /** What management paths name; undefined without a management key. */
  place: { org_id: string; team_id: string; env: string; region: string } | undefined
  /** What earlier checks made, for later ones. */
  made: Record<string, string>
}

/** `spec` is the part of the interface that it holds a server to. */
export type Check = { name: string; spec: string; run(session: Session): Promise<void> }
export type Family = { name: string; checks: Check[] }

const SKIPPED = Symbol('skipped')

/** The check cannot be made here, which is neither good nor bad. */
export const skip = (reason: string): never => {
  throw Object.assign(new Error(reason), { [SKIPPED]: true })
}

export const wasSkipped = (error: unknown) => SKIPPED in (error as object)

/** Something that an earlier check should have made. */
export const needed = ({ made }: Session, name: string): string => made[name] ?? skip(`an earlier check made no ${name}`)

/** Values are not repeated: they may be somebody's. */
export function must(holds: unknown, text: string): asserts holds {
  if (!holds) throw new Error(text)
}

export function answered({ status }: Answer, ...wanted: number[]) {
  must(wanted.includes(status), `answered ${status} instead of ${wanted.join(' or ')}`)
}

export type Fields = Record<string, unknown>

export function fieldsOf(value: unknown, names: string[], what = 'the answer'): Fields {
  must(typeof value === 'object' && value !== null, `${what} is not an object`)
  const missing = names.filter((name) => !(name in value))
  must(!missing.length, `${what} lacks ${missing.join(', ')}`)
  return value as Fields
}

export function listOf(value: unknown, what: string): Fields[] {
  must(Array.isArray(value), `${what} is not a list`)
  return value as Fields[]
}

/** Every refusal is JSON with detail. */
export function refusedWith(answer: Answer, ...statuses: number[]) {
  answered(answer, ...statuses)
  return fieldsOf(answer.body, ['detail'], 'the refusal')['detail']
}

type Keys = { base: string; team: Record<string, string>; management: Record<string, string> | undefined }

export function openSession({ base, team, management }: Keys, place: Session['place']): Session {
  const keys = { team, management: management ?? {}, anybody: {} }
  return {
    place,
    made: { run: `conformance-${Date.now().toString(36)}` },
    async call(as, method, path, { body, headers = {} } = {}) {
      if (as === 'management' && !management) skip('there is no management key')
      const response = await fetch(base + path, {
        method,
        headers: { ...keys[as], ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const isJson = response.headers.get('content-type')?.includes('json')
      const text = await response.text()
      return { status: response.status, headers: response.headers, body: isJson && text ? JSON.parse(text) : text }
    },
  }
}
