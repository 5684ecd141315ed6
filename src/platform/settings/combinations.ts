import type { Config } from '../config.ts'
import { setupProblem } from '../problem.ts'

/** Rejects settings that are valid alone and not together. */
export function checkCombinations(config: Config) {
  if (config.OIDC_ISSUER && !(config.OIDC_CLIENT_ID && config.OIDC_ROLES.length))
    throw setupProblem('OIDC_ISSUER needs OIDC_CLIENT_ID and OIDC_ROLES')
  if (config.ENVIRONMENT === 'production' && config.OIDC_ISSUER?.startsWith('http:'))
    throw setupProblem('OIDC_ISSUER must be an https URL in production')
  if (config.ENVIRONMENT === 'production' && config.PASSWORD_COST < 15)
    throw setupProblem('PASSWORD_COST must be at least 15 in production')
  if (config.ENVIRONMENT === 'production' && !config.PUBSUB_ENDPOINT.startsWith('https:'))
    throw setupProblem('PUBSUB_ENDPOINT must be an https URL in production')
  if (config.ENVIRONMENT === 'production' && config.AUDIT_CHECKPOINT_S3?.url.startsWith('http:'))
    throw setupProblem('AUDIT_CHECKPOINT_S3 must have an https URL in production')
  if (config.ENVIRONMENT === 'production' && config.BACKUP_S3?.endpoint.startsWith('http:'))
    throw setupProblem('BACKUP_S3 must have an https endpoint in production')
  if (!config.SMTP_URL !== !config.MAIL_FROM) throw setupProblem('SMTP_URL and MAIL_FROM must be set together')
  checkTransit(config)
  if (config.ENCRYPTION_KEY || config.ENCRYPTION_KEY_COMMAND || config.VAULT_TRANSIT_URL) return
  if (config.ENVIRONMENT === 'production')
    throw setupProblem('ENCRYPTION_KEY is required in production; generate one with: openssl rand -base64 32')
  if (config.DATABASE_URL) throw setupProblem('ENCRYPTION_KEY is required with DATABASE_URL; generate one with: openssl rand -base64 32')
}

function checkTransit({ VAULT_TRANSIT_URL: url, VAULT_TRANSIT_KEY: key, ...config }: Config) {
  if (config.ERASURE_EPOCH_DAYS && !url) throw setupProblem('ERASURE_EPOCH_DAYS needs VAULT_TRANSIT_URL')
  const tokens = [config.VAULT_TRANSIT_TOKEN, config.VAULT_TRANSIT_TOKEN_FILE].filter((value) => value !== undefined)
  if (!url && !key && !tokens.length) return
  if (!url || !key) throw setupProblem('VAULT_TRANSIT_URL and VAULT_TRANSIT_KEY must be set together')
  if (tokens.length !== 1) throw setupProblem('VAULT_TRANSIT_URL needs either VAULT_TRANSIT_TOKEN or VAULT_TRANSIT_TOKEN_FILE')
}
