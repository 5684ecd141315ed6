import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Siblings } from '../http/connections/siblings.ts'
import type { Metrics } from '../http/metrics/metrics.ts'
import { buildServer } from '../http/server.ts'
import type { Service } from '../platform/app.ts'
import type { Config } from '../platform/config.ts'
import { setupProblem } from '../platform/problem.ts'

type Options = { siblings: Siblings | undefined; isReady(): boolean }

/** Serves requests on PORT. */
export async function openHttp(service: Service, metrics: Metrics, options: Options) {
  const { server, drain } = await buildServer(service, metrics, options)
  await listen(server, service.config)
  return { drain, close: () => server.close() }
}

/** Listens, and replaces port 0 in the configuration by the port that the system picked. */
async function listen(server: FastifyInstance, config: Config) {
  const { HOST, PORT } = config
  await server.listen({ host: HOST, port: PORT }).catch((error: Error) => {
    throw setupProblem(`PORT ${PORT} on HOST ${HOST} is not available: ${error.message}; choose another PORT`)
  })
  config.PORT = (server.server.address() as AddressInfo).port
}
