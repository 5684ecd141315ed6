import { deploymentSteps } from '../wearables/ingestion/applications/credentials.ts'
import { cloudSlugs } from '../wearables/providers/clouds.ts'
import { command, print } from './command.ts'
import { withApp } from './with-app.ts'

export const setUpSource = command({
  name: 'sources setup',
  summary:
    'Print the URLs to register at a source for the application of the deployment (OAUTH_SOURCES): the redirect URI, and the webhook URL where the source has no API for it. The webhook URL is a secret.',
  options: { source: { value: cloudSlugs.join('|'), what: 'Slug of the source.', oneOf: cloudSlugs, required: true } },
  examples: ['assay sources setup --source whoop_v2'],
  async run({ source, json }) {
    const steps = await withApp(async (app) => deploymentSteps(app, source))
    print(
      json,
      steps,
      steps.map(({ type, value }) => `${type}: ${value}`),
    )
  },
})
