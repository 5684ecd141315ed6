import type { FastifyInstance, FastifyRequest } from 'fastify'
import { isId } from '../../contract/common.ts'
import { isCourierCode } from '../../contract/labs/kits.ts'
import { receiveTracking, refusedScan } from '../../labs/kits/scans.ts'
import type { App } from '../../platform/app.ts'
import { countAgainstLimit } from '../../tenants/people/sessions/attempt-limiter.ts'
import { networkOf } from '../../tenants/people/sessions/rules.ts'
import { firstValues } from './cloud-webhooks.ts'

const BODY_LIMIT = 64 * 1024

type Request = FastifyRequest<{ Params: { team_id: string; courier: string }; Body: Buffer | undefined }>

/** Receives tracking notifications of couriers. The body stays raw, because its bytes are signed. */
export async function mountCourierWebhooks(app: App, server: FastifyInstance) {
  await server.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BODY_LIMIT }, async (_: unknown, body: Buffer) => body)
    scope.post('/couriers/:team_id/:courier/tracking', async ({ params: { team_id, courier }, headers, body, ip }: Request, reply) => {
      const request = { headers: firstValues(headers), body: body ?? Buffer.alloc(0) }
      const isPossible = isId(team_id) && isCourierCode(courier)
      const response = isPossible ? await receiveTracking(app, team_id, courier, request) : refusedScan
      if (response.status === 401) await countAgainstLimit(app, `couriers at ${networkOf(ip)}`)
      return reply.code(response.status).header('cache-control', 'no-store').send(response.body)
    })
  })
}
