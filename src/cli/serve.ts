import { serve } from '../processes/serve.ts'
import { command } from './command.ts'

export const serveCommand = command({
  name: 'serve',
  summary: 'Start the service. npm start runs this command. With --json it prints its address in one line, without keys.',
  options: {},
  examples: ['PORT=9000 assay serve'],
  run: ({ json }) => serve(json),
})
