import { once } from 'node:events'

/** Waits until the person presses Ctrl-C, or a service manager ends the command. */
export const untilStopped = () => Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
