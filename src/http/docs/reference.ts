import { createHash } from 'node:crypto'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { fileOf, sendFile } from '../pages/files.ts'
import { versionOf } from './assets.ts'

const AT = '/docs/reference'

const icon = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="#0b7285"/></svg>')}`

const configuration = {
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
} as const

/** The viewer shows a made-up token in the empty field of a key, which reads as if one were filled in; no setting of it changes that. */
const THEIR_EXAMPLE = 'QUxMIFlPVVIgQkFTRSBBUkUgQkVMT05HIFRPIFVT'

/**
 * The viewer is served from our own process and asks nobody else for anything. It is read when somebody first asks for it: its script
 * has megabytes, which most processes never send.
 */
export function mountReference(server: FastifyInstance) {
  let made: ReturnType<typeof readViewer> | undefined
  const viewer = () => {
    made ??= readViewer()
    return made
  }
  const page = async (request: FastifyRequest, reply: FastifyReply) => {
    const { page, policy } = await viewer()
    return sendFile(page, request, reply.header('content-security-policy', policy).header('cache-control', 'no-cache'))
  }
  server.get(AT, page)
  // Also with the slash, where an older version sent browsers for good.
  server.get(`${AT}/`, page)
  server.get(`${AT}/viewer.js`, async (request: FastifyRequest<{ Querystring: { v?: string } }>, reply) => {
    const { script, version } = await viewer()
    // What carries its version in its address is never another under it.
    const isKept = request.query.v === version
    return sendFile(script, request, reply.header('cache-control', isKept ? 'public, max-age=31536000, immutable' : 'no-cache'))
  })
}

/** The plugin hands its files out over HTTP only, so it is asked in a server of its own that listens nowhere. */
async function readViewer() {
  const text = (await asked('js/scalar.js')).replaceAll(THEIR_EXAMPLE, 'your key')
  const version = versionOf(text)
  const html = await asked('', `${AT}/viewer.js?v=${version}`)
  return {
    version,
    script: fileOf('text/javascript; charset=utf-8', Buffer.from(text)),
    page: fileOf('text/html; charset=utf-8', Buffer.from(html)),
    policy: policyOf(html),
  }
}

async function asked(path: string, cdn?: string) {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  await using plugin = Fastify()
  await plugin.register(reference, { routePrefix: AT, configuration: { ...configuration, ...(cdn ? { cdn } : {}) } })
  return (await plugin.inject(`${AT}/${path}`)).body
}

/** Enforced by the browser as well: a key that somebody types into the page reaches this service only, and no other script runs in it. */
function policyOf(html: string) {
  const inline = [...html.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(([, code = '']) => `'sha256-${hashOf(code)}'`)
  return `default-src 'none'; script-src 'self' ${inline.join(' ')}; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'; base-uri 'none'`
}

const hashOf = (code: string) => createHash('sha256').update(code).digest('base64')
