import { createHash } from 'node:crypto'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { createFile, sendFile } from '../static/files.ts'
import { versionOf } from './assets.ts'

const PATH = '/docs/reference'

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
  // Hides the only link to an external site, and prevents sideways scrolling in a narrow window.
  customCss: '.darklight-reference a[href*="scalar.com"] { display: none } .scalar-app { overflow-x: clip }',
  authentication: { preferredSecurityScheme: 'teamKey' },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
} as const

/** The viewer's placeholder token looks like a filled-in key, and no setting changes it. */
const PLACEHOLDER_TOKEN = 'QUxMIFlPVVIgQkFTRSBBUkUgQkVMT05HIFRPIFVT'

/** Serves the viewer from this process. It is loaded on first use, because its script is several megabytes. */
export function mountReference(server: FastifyInstance) {
  let files: ReturnType<typeof readViewer> | undefined
  const viewer = () => {
    files ??= readViewer()
    return files
  }
  const page = async (request: FastifyRequest, reply: FastifyReply) => {
    const { page, policy } = await viewer()
    return sendFile(page, request, reply.header('content-security-policy', policy).header('cache-control', 'no-cache'))
  }
  server.get(PATH, page)
  server.get(`${PATH}/viewer.js`, async (request: FastifyRequest<{ Querystring: { v?: string } }>, reply) => {
    const { script, version } = await viewer()
    // A URL with a content hash never serves other content.
    const isVersioned = request.query.v === version
    return sendFile(script, request, reply.header('cache-control', isVersioned ? 'public, max-age=31536000, immutable' : 'no-cache'))
  })
}

/** The plugin serves its files over HTTP only, so this reads them from a server that does not listen. */
async function readViewer() {
  const text = (await readFromPlugin('js/scalar.js')).replaceAll(PLACEHOLDER_TOKEN, 'your key')
  const version = versionOf(text)
  const html = await readFromPlugin('', `${PATH}/viewer.js?v=${version}`)
  return {
    version,
    script: createFile('text/javascript; charset=utf-8', Buffer.from(text)),
    page: createFile('text/html; charset=utf-8', Buffer.from(html)),
    policy: policyOf(html),
  }
}

async function readFromPlugin(path: string, cdn?: string) {
  const { default: reference } = await import('@scalar/fastify-api-reference')
  await using plugin = Fastify()
  await plugin.register(reference, { routePrefix: PATH, configuration: { ...configuration, ...(cdn ? { cdn } : {}) } })
  return (await plugin.inject(`${PATH}/${path}`)).body
}

/** Makes the browser send a typed key to this service only, and run no other script. */
function policyOf(html: string) {
  const inline = [...html.matchAll(/<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(([, code = '']) => `'sha256-${hashOf(code)}'`)
  return `default-src 'none'; script-src 'self' ${inline.join(' ')}; style-src 'self' 'unsafe-inline'; connect-src 'self'; img-src 'self' data:; font-src 'self' data:; frame-ancestors 'none'; base-uri 'none'`
}

const hashOf = (code: string) => createHash('sha256').update(code).digest('base64')
