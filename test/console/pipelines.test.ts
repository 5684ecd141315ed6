import { expect } from 'vitest'
import { journey, openSignedIn } from '../support/console-page.ts'
import { deploymentOf, emitEvents } from '../support/pipelines.ts'
import { reservePorts } from '../support/ports.ts'
import { world } from '../support/world.ts'

const [brokerPort, pubsubPort] = await reservePorts(2)
const w = await world({ env: { PUBSUB_PROJECTS: 'harbor-events', PUBSUB_ENDPOINT: `http://127.0.0.1:${pubsubPort}` } })
await w.startDelivery()

journey('a pipeline is created, paused, resumed, edited and deleted, and unsupported settings explain the remedy', async (width) => {
  const tenant = await w.tenant()
  const params = deploymentOf(tenant)
  const kept = async () => (await tenant.admin.listPipelines({ params })).pipelines
  const { open, ...opened } = await openSignedIn(w.base, tenant, width)
  const { page } = opened
  await open('/pipelines')
  await page.getByRole('button', { name: 'Create pipeline' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('Webhooks keep delivering alongside pipelines').waitFor()
  await dialog.getByLabel('RabbitMQ').uncheck()
  expect(await dialog.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true)
  await dialog.getByLabel('RabbitMQ').check()
  await dialog.getByLabel('Broker').fill('amqp://assay:broker-secret-4711@127.0.0.1:9/health')
  await dialog.getByLabel('Exchange').fill('events')
  await dialog.getByLabel('Event types').fill('labtest.order.*')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByText(/^Use port 443/).waitFor()
  expect(await kept()).toEqual([])
  opened.consoleErrors.length = 0
  await dialog.getByLabel('Broker').fill(`amqp://assay:broker-secret-4711@127.0.0.1:${brokerPort}/health`)
  await dialog.getByRole('button', { name: 'Create' }).click()
  await page.getByText('Up to date').waitFor()
  await page.getByText(`amqp://***:***@127.0.0.1:${brokerPort}/health`).waitFor()
  expect(await page.content()).not.toContain('broker-secret-4711')
  expect(await kept()).toMatchObject([
    { team_id: tenant.team_id, event_type_prefixes: ['labtest.order.'], rabbitmq: { exchange: 'events' } },
  ])

  await page.getByRole('button', { name: 'Pause' }).click()
  await page.getByText('Paused', { exact: true }).waitFor()
  expect(await kept()).toMatchObject([{ preferences: { enabled: [] } }])
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByText('Up to date').waitFor()
  await page.getByRole('button', { name: 'Edit' }).click()
  await page.getByLabel('Exchange').fill('other-events')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByText('other-events').waitFor()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('button', { name: 'Delete pipeline', exact: true }).click()
  await page.getByText('No pipelines yet').waitFor()
  expect(await kept()).toEqual([])
  return opened
})

journey(
  'a topic is added to a pipeline, and each destination shows its own status, error and backlog',
  async (width) => {
    const tenant = await w.tenant()
    const params = deploymentOf(tenant)
    const rabbitmq = { uri: `amqp://assay:broker-secret-4711@127.0.0.1:${brokerPort}/health`, exchange: 'events' }
    await tenant.admin.upsertPipelines({ params, body: { team_ids: [tenant.team_id], rabbitmq } })
    const kept = async () => (await tenant.admin.listPipelines({ params })).pipelines
    const { open, ...opened } = await openSignedIn(w.base, tenant, width)
    const { page } = opened
    await open('/pipelines')
    await page.getByRole('button', { name: 'Edit' }).click()
    const dialog = page.getByRole('dialog')
    expect(await dialog.getByLabel('RabbitMQ').isDisabled()).toBe(true)
    await dialog.getByLabel('Google Cloud Pub/Sub').check()
    await dialog.getByLabel('Project').fill('somebody-else')
    await dialog.getByLabel('Topic').fill('health')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText(/PUBSUB_PROJECTS/).waitFor()
    await dialog.getByLabel('Project').fill('Harbor')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog
      .getByText(/^Must be a project ID/)
      .first()
      .waitFor()
    opened.consoleErrors.length = 0
    await dialog.getByLabel('Project').fill('harbor-events')
    await dialog.getByRole('button', { name: 'Save' }).click()
    const topic = page.getByRole('region', { name: 'Google Cloud Pub/Sub' })
    const broker = page.getByRole('region', { name: 'RabbitMQ' })
    await topic.getByText('Up to date').waitFor()
    expect(await kept()).toMatchObject([
      {
        cloud_pubsub: { project: 'harbor-events', topic: 'health', message_ordering: true },
        rabbitmq: { exchange: 'events' },
        preferences: { enabled: ['rabbitmq', 'cloud_pubsub'] },
      },
    ])
    await broker.getByRole('button', { name: 'Pause' }).click()
    await broker.getByText('Paused', { exact: true }).waitFor()
    await emitEvents(w.app, tenant, ['one', 'two'])
    await topic.getByText('Failing', { exact: true }).waitFor()
    await topic.getByText('The host refused the connection.').waitFor()
    await topic.getByText('0 of 2').waitFor()
    expect(await broker.getByText('Paused', { exact: true }).count()).toBe(1)
    return opened
  },
  { checkAccessibility: true },
)
