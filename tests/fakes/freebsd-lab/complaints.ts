// Collects misuse of the simulated lab by a test: thrown when it stops.

export type Complaints = {
  add(complaint: string): void;
  all(): readonly string[];
};

export function noComplaints(): Complaints {
  const complaints: string[] = [];
  return {
    add: (complaint) => void complaints.push(complaint),
    all: () => [...complaints],
  };
}
