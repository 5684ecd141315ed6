import { describe, expect, test } from 'vitest'
import { publicUrl, readConfig } from '../../src/platform/config.ts'
import { ENCRYPTION_KEY } from '../support/world.ts'

describe('rejects an invalid setting by its name', () => {
  test.each([
    [{ PORT: 'abc' }, /^PORT must be a whole number/],
    [{ PORT: '65536' }, /^PORT must be at most 65535/],
    [{ PORT: '80.5' }, /^PORT must be a whole number/],
    [{ PORT: '0x10' }, /^PORT must be a whole number/],
    [{ PORT: '1e3' }, /^PORT must be a whole number/],
    [{ ENVIRONMENT: 'staging' }, /^ENVIRONMENT must be one of sandbox, production/],
    [{ REGION: 'mars' }, /^REGION must be one of us, eu/],
    [{ ROLE: 'x' }, /^ROLE must be one of all, api, worker/],
    [{ PROCESSES: '0' }, /^PROCESSES must be at least 1/],
    [{ PROCESSES: 'many' }, /^PROCESSES must be a whole number from 1 to 64/],
    [{ PUBLIC_URL: 'ftp://example.org' }, /^PUBLIC_URL must be an http or https URL/],
    [{ PUBLIC_URL: 'https://keeper:hunter2@assay.example' }, /^PUBLIC_URL must have no credentials, query or fragment$/],
    [{ PUBLIC_URL: 'https://assay.example/?' }, /^PUBLIC_URL must have no credentials, query or fragment$/],
    [{ LOG_LEVEL: 'loud' }, /^LOG_LEVEL must be one of/],
    [{ DATABASE_POOL_SIZE: '1' }, /^DATABASE_POOL_SIZE must be at least 2/],
    [{ DATABASE_URL: 'mysql://root:hunter2@db/assay', ENCRYPTION_KEY }, /^DATABASE_URL must be a postgres:\/\/ URL/],
    [{ DATABASE_URL: 'nonsense', ENCRYPTION_KEY }, /^DATABASE_URL must be a postgres:\/\/ URL/],
    [{ ENCRYPTION_KEY: 'short' }, /^ENCRYPTION_KEY must have at least 32 characters/],
    [{ WEBHOOK_ALLOW_LOOPBACK: 'maybe' }, /^WEBHOOK_ALLOW_LOOPBACK must be one of true, false/],
    [{ WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8,10.1.2.3' }, /^WEBHOOK_ALLOWED_NETWORKS must be networks/],
    [{ TRUST_PROXY: 'true' }, /^TRUST_PROXY must be addresses or networks of proxies/],
    [{ TRUST_PROXY: '127.0.0.1,0.0.0.0/0' }, /^TRUST_PROXY must be addresses or networks of proxies/],
    [{ PUBSUB_PROJECTS: 'harbor-events,Harbor' }, /^PUBSUB_PROJECTS must be IDs of Google Cloud projects/],
    [{ PUBSUB_ENDPOINT: 'pubsub.googleapis.com' }, /^PUBSUB_ENDPOINT must be an http or https URL/],
    [{ ENVIRONMENT: 'production', PUBSUB_ENDPOINT: 'http://127.0.0.1:8085' }, /^PUBSUB_ENDPOINT must be an https URL in production/],
    [{ OIDC_ISSUER: 'http://login.example.org' }, /^OIDC_ISSUER must be an https URL/],
    [{ OIDC_ISSUER: 'https://login.example.org', OIDC_CLIENT_ID: 'assay' }, /^OIDC_ISSUER needs OIDC_CLIENT_ID and OIDC_ROLES/],
    [
      { ENVIRONMENT: 'production', OIDC_ISSUER: 'http://127.0.0.1:1', OIDC_CLIENT_ID: 'a', OIDC_ROLES: 'a=support' },
      /^OIDC_ISSUER must be/,
    ],
    [{ OIDC_ROLES: 'admins' }, /^OIDC_ROLES must list groups with roles/],
    [{ OIDC_ROLES: 'admins=owner' }, /^OIDC_ROLES must list groups with roles/],
    [{ OIDC_ROLES: 'staff=team_admin' }, /^OIDC_ROLES must list groups with roles/],
    [{ OIDC_ROLES: 'staff=support@pier' }, /^OIDC_ROLES must list groups with roles/],
    [{ OIDC_ROLES: 'a=org_admin@00000000-0000-4000-8000-000000000001' }, /^OIDC_ROLES must list groups with roles/],
    [{ OIDC_SCOPES: 'profile email' }, /^OIDC_SCOPES must start with openid/],
    [{ DATABASE_URL: 'postgres://assay@127.0.0.1:1/assay' }, /^ENCRYPTION_KEY is required with DATABASE_URL/],
    [{ ENVIRONMENT: 'production' }, /^ENCRYPTION_KEY is required in production/],
    [{ BOOTSTRAP_TEAM_API_KEY: 'short' }, /^BOOTSTRAP_TEAM_API_KEY must have 8 to 200 printable characters/],
  ])('%j', (env, line) => {
    expect(() => readConfig(env)).toThrow(line)
  })
})

test.each([
  [{ PUBLIC_URL: 'HTTPS://Assay.Example/base//' }, 'https://assay.example/base'],
  [{ HOST: '[::1]', PORT: '9000' }, 'http://[::1]:9000'],
  [{ HOST: '::1', PORT: '9000' }, 'http://[::1]:9000'],
  [{ HOST: '0.0.0.0', PORT: '9000' }, 'http://127.0.0.1:9000'],
  [{ HOST: '::', PORT: '9000' }, 'http://[::1]:9000'],
])('the settings %j lead to links under %s', (env, base) => {
  expect(publicUrl(readConfig(env))).toBe(base)
})
