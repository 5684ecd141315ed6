import { Head } from '../../ui/head.tsx'

export const ManagementKeys = () => <Head title="ManagementKeys" />
