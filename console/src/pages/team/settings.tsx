import { Head } from '../../ui/head.tsx'

export const Settings = () => <Head title="Settings" />
