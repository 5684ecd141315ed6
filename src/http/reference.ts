import type { FastifyInstance } from 'fastify'

/** Enforced by the browser as well: a key that somebody types into the page reaches this service only. */
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"

const icon = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="#0b7285"/></svg>')}`

/** The viewer is served from our own process and asks nobody else for anything. */
export async function mountReference(server: FastifyInstance) {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  await server.register(reference, {
    routePrefix: '/docs/reference',
    hooks: {
      onRequest: (_, reply, done) => {
        reply.header('content-security-policy', POLICY)
        done()
      },
    },
    configuration: {
      url: '/openapi.json',
      pageTitle: 'API reference · Assay documentation',
      favicon: icon,
      withDefaultFonts: false,
      telemetry: false,
      agent: { disabled: true },
      mcp: { disabled: true },
      hideClientButton: true,
      showDeveloperTools: 'never',
      // The link to the maker's site is the only one that leads away; a narrow window would scroll sideways by a few pixels.
      customCss: '.darklight-reference a[href*="scalar.com"] { display: none } .scalar-app { overflow-x: clip }',
      authentication: { preferredSecurityScheme: 'teamKey' },
      defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
    },
  })
}
