import { z } from 'zod'
import { Id, openEnum } from '../common.ts'
import { eventType, exampleValues, NOT_YET } from '../delivery/event.ts'
import { deprecated } from '../deprecation.ts'
import { PersonalText, personal, Safe, safe } from '../personal.ts'
import { sourceTypes } from './series.ts'

export const connectionErrorTypes = [
  'token_refresh_failed',
  'webhook_registration_failed',
  'user_not_found',
  'deregistered_per_provider',
  'required_scopes_not_granted',
  'provider_credential_error',
  'provider_password_expired',
  'unknown',
] as const

const Provider = z.looseObject({ name: Safe, slug: Safe, logo: Safe })

const Connection = z.looseObject({
  user_id: Id,
  provider: Provider,
  source: deprecated(Provider, 'Use `provider`.'),
  external_user_id: PersonalText.nullable(),
  resource_availability: z.record(Safe, safe(z.looseObject({}))),
})

const BrokenConnection = z.looseObject({
  user_id: Id,
  provider: Safe,
  message: Safe,
  error_type: openEnum(connectionErrorTypes),
  error_details: Safe,
})

const Device = z.looseObject({
  id: Id,
  user_id: Id,
  provider: Safe,
  source_type: openEnum(sourceTypes),
  app_id: Safe.nullish(),
  device_manufacturer: Safe.nullish(),
  device_model: Safe.nullish(),
  device_version: Safe.nullish(),
  device_id: PersonalText.nullish(),
})

const QueryChanges = z.array(z.looseObject({ query_id: Id, query_slug: Safe.nullable(), data: personal(z.looseObject({})) }))

const { user_id } = exampleValues
const tidemark = { name: 'Tidemark', slug: 'tidemark', logo: 'https://api.example.com/logos/tidemark.svg' }
const aDevice = {
  id: 'd7a5c3e1-9f20-4b86-8c4d-5e1b7f3a0962',
  user_id,
  provider: 'tidemark',
  source_type: 'watch',
  app_id: null,
  device_manufacturer: 'Tidemark',
  device_model: 'Tidemark 2',
  device_version: '2.4',
  device_id: null,
}

export const providerEvents = {
  'provider.connection.created': eventType({
    key: 'user and provider',
    description: 'Emitted when a user connects a provider.',
    data: Connection,
    example: {
      user_id,
      provider: tidemark,
      source: tidemark,
      external_user_id: null,
      resource_availability: { activity: { status: 'available' } },
    },
  }),
  'provider.connection.error': eventType({
    key: 'user and provider',
    description: 'Emitted when a connection stops working. The user needs to connect the provider again.',
    data: BrokenConnection,
    example: {
      user_id,
      provider: 'tidemark',
      message: 'The provider no longer accepts the connection.',
      error_type: 'token_refresh_failed',
      error_details: 'The refresh token was revoked.',
    },
  }),
  'provider.device.created': eventType({
    key: 'device',
    description: 'Emitted when data arrives from a device for the first time.',
    data: Device,
    example: aDevice,
  }),
  'provider.device.updated': eventType({
    key: 'device',
    description: 'Emitted when the description of a device changes.',
    data: Device,
    example: { ...aDevice, device_version: '2.5' },
  }),
  'continuous_query.result_table.changed': eventType({
    key: 'user and query',
    description: `The result of a continuous query changes. ${NOT_YET}`,
    data: QueryChanges,
    example: [{ query_id: '0f6c8b2d-7e35-4d19-a4c0-8b5d1f9e3726', query_slug: 'weekly-steps', data: { week: '2026-W09', steps: 61_240 } }],
  }),
}
