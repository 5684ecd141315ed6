import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../platform/app.ts'
import { countAgainstLimit } from '../../tenants/people/sessions/attempt-limiter.ts'
import { networkOf } from '../../tenants/people/sessions/rules.ts'
import { receiveNotification } from '../../wearables/ingestion/receive.ts'

const BODY_LIMIT = 256 * 1024

type Request = FastifyRequest<{
  Params: { slug: string; secret: string }
  Querystring: Record<string, string | string[] | undefined>
  Body: Buffer | undefined
}>

/** Receives notifications of wearable clouds. The body stays raw, because its bytes are signed. */
export async function mountCloudWebhooks(app: App, server: FastifyInstance) {
  await server.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT }, async (_: unknown, body: Buffer) => body)
    const receive = async ({ params: { slug, secret }, method, query, headers, body, ip }: Request, reply: FastifyReply) => {
      const request = { method, query: firstValues(query), headers: firstValues(headers), body: body ?? Buffer.alloc(0) }
      const response = await receiveNotification(app, slug, secret, request)
      // A cloud sends the notifications of all teams from one network, so those that fail never block the others.
      if (response.status === 404 || response.status === 401) await countAgainstLimit(app, `notifications at ${networkOf(ip)}`)
      return reply.code(response.status).header('cache-control', 'no-store').send(response.body)
    }
    scope.get('/providers/:slug/webhook/:secret', receive)
    scope.post('/providers/:slug/webhook/:secret', receive)
  })
}

export const firstValues = (values: Record<string, string | string[] | undefined>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, Array.isArray(value) ? value[0] : value]))
