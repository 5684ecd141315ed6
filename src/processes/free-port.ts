import { type AddressInfo, createServer } from 'node:net'

/**
 * A free port for PORT=0, because processes share a port only if they name the same one. If there is none, 0: the process that
 * listens then says why.
 */
export function freePort(host: string): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(0))
    server.listen(0, host, () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}
