import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { atEnd } from './at-end.ts'

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

const newKeys = () => generateKeyPairSync('rsa', { modulusLength: 2048 })

function sign(header: object, claims: object, key: KeyObject) {
  const text = `${base64url(header)}.${base64url(claims)}`
  return `${text}.${createSign('RSA-SHA256').update(text).sign(key, 'base64url')}`
}

type Forgery = { claims?: object; userinfo?: object; header?: object; withOtherKey?: boolean; unsigned?: boolean }

/** An OpenID provider whose ID tokens a test can forge. It signs in the person that the test names, without a page. */
export async function forgingProvider(client_id: string) {
  const [own, other] = [newKeys(), newKeys()]
  const forgery: { current: Forgery } = { current: {} }
  let nonce = ''
  let discoveries = 0
  const http = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://127.0.0.1')
    const send = (body: object) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
    if (pathname === '/.well-known/openid-configuration') {
      discoveries++
      return send({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
        jwks_uri: `${issuer}/jwks`,
        id_token_signing_alg_values_supported: ['RS256'],
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
      })
    }
    if (pathname === '/jwks') return send({ keys: [{ ...own.publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }] })
    if (pathname === '/userinfo') return send({ sub: 'forged', ...forgery.current.userinfo })
    if (pathname === '/authorize') {
      nonce = searchParams.get('nonce') ?? ''
      const back = new URL(searchParams.get('redirect_uri') ?? '')
      back.search = new URLSearchParams({ code: 'a-code', state: searchParams.get('state') ?? '' }).toString()
      return response.writeHead(302, { location: back.href }).end()
    }
    return send({ access_token: 'an-access-token', token_type: 'Bearer', expires_in: 60, id_token: idToken() })
  })
  await new Promise<void>((resolve) => void http.listen(0, '127.0.0.1', resolve))
  atEnd(async () => void http.close())
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  function idToken() {
    const { claims = {}, header = {}, withOtherKey, unsigned } = forgery.current
    const now = Math.floor(Date.now() / 1000)
    const all = {
      ...{ iss: issuer, aud: client_id, sub: 'forged', iat: now, exp: now + 60, nonce },
      ...{ email: 'forged@harbor.example', email_verified: true, groups: ['admins'], ...claims },
    }
    if (unsigned) return `${base64url({ alg: 'none' })}.${base64url(all)}.`
    return sign({ alg: 'RS256', kid: 'one', ...header }, all, withOtherKey ? other.privateKey : own.privateKey)
  }
  return {
    issuer,
    forge: (next: Forgery) => {
      forgery.current = next
    },
    discoveries: () => discoveries,
  }
}
