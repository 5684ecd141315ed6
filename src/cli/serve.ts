import { environment } from '../platform/runtime/environment.ts'
import { serve } from '../processes/serve.ts'
import { command } from './command.ts'

export const serveCommand = command({
  name: 'serve',
  summary: 'Start the service. npm start runs this command. With --json it prints its address in one line, without keys.',
  options: {
    simulate: {
      value: 'SOURCES',
      what: 'Sandbox only: run stand-ins of these clouds, such as oura,withings, to connect simulated accounts through the real adapters. They end with the service.',
    },
  },
  examples: ['PORT=9000 assay serve', 'assay serve --simulate oura,withings'],
  async run({ json, simulate }) {
    // Only this option loads the stand-ins.
    if (simulate) await (await import('./simulated-clouds.ts')).simulateClouds(simulate, environment())
    await serve(json)
  },
})
