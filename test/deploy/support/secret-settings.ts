const secrets = [
  'AUDIT_CHECKPOINT_S3',
  'BACKUP_S3',
  'BOOTSTRAP_MANAGEMENT_KEY',
  'BOOTSTRAP_TEAM_API_KEY',
  'ENCRYPTION_KEY',
  'ENCRYPTION_KEY_PREVIOUS',
  'METRICS_TOKEN',
  'OAUTH_SOURCES',
  'OIDC_CLIENT_SECRET',
  'SMTP_URL',
  'VAULT_TRANSIT_TOKEN',
]

/** Whether a setting holds a secret. Database URLs contain a password. */
export const isSecretSetting = (name: string) => name.endsWith('DATABASE_URL') || secrets.includes(name)
