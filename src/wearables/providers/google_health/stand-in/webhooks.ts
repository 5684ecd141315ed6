import { createPublicKey, generateKeyPairSync, type KeyObject, randomInt, randomUUID, sign, verify } from 'node:crypto'
import { z } from 'zod'
import { SECOND } from '../../../../platform/time.ts'
import { newDeliveries } from '../../stand-in/deliveries.ts'
import type { Request, Response } from '../../stand-in/server.ts'
import { error } from './read.ts'

type SigningKey = { id: number; privateKey: KeyObject; value: string }

/** A new key pair, with its public part as Tink writes it. */
function newSigningKey(): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const field = (number: number, bytes: Buffer) => Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes])
  const params = field(2, Buffer.from([0x08, 3, 0x10, 2, 0x18, 2]))
  // Tink writes coordinates as signed numbers, with a zero at the start.
  const coordinates = [x, y].map((text) => Buffer.concat([Buffer.alloc(1), Buffer.from(text, 'base64url')])) as [Buffer, Buffer]
  const message = Buffer.concat([params, field(3, coordinates[0]), field(4, coordinates[1])])
  return { id: randomInt(1, 2 ** 31), privateKey, value: message.toString('base64') }
}

const NewSubscriber = z.strictObject({
  endpointUri: z.url(),
  endpointAuthorization: z.strictObject({ secret: z.string().min(1) }),
  subscriberConfigs: z.array(
    z.strictObject({ dataTypes: z.array(z.string()).min(1), subscriptionCreatePolicy: z.enum(['AUTOMATIC', 'MANUAL']) }),
  ),
})

const supportedTypes =
  'active-zone-minutes activity-level altitude blood-glucose body-fat calories-in-heart-rate-zone daily-heart-rate-variability daily-heart-rate-zones daily-oxygen-saturation daily-respiratory-rate daily-resting-heart-rate daily-sleep-temperature-derivations distance exercise floors heart-rate heart-rate-variability height hydration-log nutrition-log respiratory-rate-sleep-summary run-vo2-max sedentary-period sleep steps time-in-heart-rate-zone total-calories weight'.split(
    ' ',
  )

export type Subscriber = z.output<typeof NewSubscriber> & { name: string; state: string }
type Changed = { user: string; operation: 'UPSERT' | 'DELETE'; dataType: string; from: number; to: number }

type Options = { project: string; servicePublicKey: string; now(): string; reach(url: string): string; hasConsent(user: string): boolean }

/** The subscribers of the project, the keys that sign, and the notifications. */
export function newWebhooks({ project, servicePublicKey, now, reach, hasConsent }: Options) {
  const subscribers = new Map<string, Subscriber>()
  const deliveries = newDeliveries(reach)
  let keys: [SigningKey, SigningKey] = [newSigningKey(), newSigningKey()]
  let sent = 0

  /** The first key of the set signs. The other one is the next or the last. */
  const keySet = () => ({
    primaryKeyId: keys[0].id,
    key: keys.map(({ id, value }) => ({
      keyData: { typeUrl: 'type.googleapis.com/google.crypto.tink.EcdsaPublicKey', value, keyMaterialType: 'ASYMMETRIC_PUBLIC' },
      ...{ status: 'ENABLED', keyId: id, outputPrefixType: 'TINK' },
    })),
  })

  /** A new key signs from now on, and the oldest is gone. */
  const rotateKeys = () => {
    keys = [newSigningKey(), keys[0]]
  }

  function signatureOf(body: string, key = keys[0]) {
    const header = Buffer.alloc(5)
    header.writeUInt8(1, 0)
    header.writeUInt32BE(key.id, 1)
    return Buffer.concat([header, sign('sha256', Buffer.from(body), { key: key.privateKey, dsaEncoding: 'der' })]).toString('base64')
  }

  /** Whether the token is of the service account: signed by it, for the cloud platform, and not expired. */
  function isAuthorized({ headers }: Request) {
    const [header = '', claims = '', signature = ''] = (headers.authorization ?? '').replace(/^Bearer /, '').split('.')
    const signed = Buffer.from(`${header}.${claims}`)
    if (!verify('sha256', signed, createPublicKey(servicePublicKey), Buffer.from(signature, 'base64url'))) return false
    const { scope, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString()) as { scope?: string; exp?: number }
    return scope === 'https://www.googleapis.com/auth/cloud-platform' && Number(exp) * SECOND > Date.parse(now())
  }

  /** Checks a new endpoint: with the secret it must accept, and without it refuse. */
  async function isVerified({ endpointUri, endpointAuthorization: { secret } }: z.output<typeof NewSubscriber>) {
    const post = (headers: Record<string, string>) =>
      fetch(reach(endpointUri), {
        ...{ method: 'POST', body: '{"type":"verification"}', signal: AbortSignal.timeout(10 * SECOND) },
        headers: { 'content-type': 'application/json', ...headers },
      }).then(
        ({ status }) => status,
        () => undefined,
      )
    const [accepted, refused] = [await post({ authorization: secret }), await post({})]
    return accepted === 201 && (refused === 401 || refused === 403)
  }

  async function handle(request: Request): Promise<Response> {
    if (!isAuthorized(request)) return error(401, 'UNAUTHENTICATED', 'The token of the service account is not valid.')
    const parent = `/v4/projects/${project}/subscribers`
    if (request.path === parent && request.method === 'GET')
      return { status: 200, body: { subscribers: [...subscribers.values()].map(present) } }
    if (request.path === parent && request.method === 'POST') return create(JSON.parse(request.body))
    const name = request.path.replace(/^\/v4\//, '')
    if (request.method !== 'DELETE' || !subscribers.delete(name)) return error(404, 'NOT_FOUND', 'Unknown subscriber.')
    return { status: 200, body: { name: `operations/${randomUUID()}`, done: true } }
  }

  const present = ({ endpointAuthorization: _, ...shown }: Subscriber) => ({ ...shown, endpointAuthorization: { secretSet: true } })

  async function create(json: unknown): Promise<Response> {
    const { data: wanted } = NewSubscriber.safeParse(json)
    const types = wanted?.subscriberConfigs.flatMap(({ dataTypes }) => dataTypes) ?? []
    if (!wanted || types.some((type) => !supportedTypes.includes(type)))
      return error(400, 'INVALID_ARGUMENT', 'The subscriber is not valid.')
    if (!(await isVerified(wanted))) return error(400, 'FAILED_PRECONDITION', 'The endpoint could not be verified.')
    const name = `projects/${project}/subscribers/${randomUUID()}`
    subscribers.set(name, { ...wanted, name, state: 'ACTIVE' })
    return { status: 200, body: { name: `operations/${randomUUID()}`, done: true, response: { name } } }
  }

  /** Queues a notification for the subscribers of the type. Google sends some as a list and some as one object. */
  function notify({ user, operation, dataType, from, to }: Changed) {
    const physicalTimeInterval = { startTime: new Date(from).toISOString(), endTime: new Date(to).toISOString() }
    for (const { endpointUri, endpointAuthorization, subscriberConfigs, name } of subscribers.values()) {
      if (!hasConsent(user) || !subscriberConfigs.some(({ dataTypes }) => dataTypes.includes(dataType))) continue
      const data = {
        version: '1',
        clientProvidedSubscriptionName: name,
        healthUserId: user,
        operation,
        dataType,
        intervals: [{ physicalTimeInterval }],
      }
      const body = JSON.stringify(sent++ % 2 ? { data } : [{ data }])
      const headers = { 'content-type': 'application/json', authorization: endpointAuthorization.secret }
      deliveries.add({ url: endpointUri, headers: { ...headers, 'google-health-api-signature': signatureOf(body) }, body })
    }
  }

  return { handle, notify, deliver: deliveries.deliver, take: deliveries.take, keySet, rotateKeys, signatureOf, subscribers }
}
