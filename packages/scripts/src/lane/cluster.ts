import {
  type Command,
  DriverFault,
  type DriverState,
  isDriverFault,
  type LaneRole,
  type RedisDriver,
  type Reply,
  type Route,
  type Settled,
} from "../driver/types.js";
import { backoffMs } from "./backoff.js";
import { closed, connectFault, type Opener, offline } from "./connection.js";
import { firstKey } from "./first-key.js";
import { firstReady, hostUnknown, Lane, type LaneOptions, untilReady } from "./lane.js";
import { StateCell } from "./listeners.js";
import { settle } from "./settle.js";
import { addressName, keySlot, type NodeAddress, readRedirect, readSlots } from "./slots.js";

const REDIRECTS = 5;

/** What an adapter tells of a cluster. */
export interface ClusterNodes {
  /** Nodes to ask where no other answers. */
  readonly seeds: readonly NodeAddress[];
  /** How to open a connection to one node. */
  opener(address: NodeAddress): Opener;
  /** The address to connect to for an address the cluster told. */
  translate(address: NodeAddress): NodeAddress;
}

interface Node {
  readonly address: NodeAddress;
  readonly lane: Lane;
}

/**
 * One lane to a cluster: a connection to each master, slots learnt with `CLUSTER SLOTS`. It is ready
 * when every master is; a command needs only the node of its key.
 */
export class ClusterLane implements RedisDriver {
  readonly info: RedisDriver["info"];
  readonly #source: ClusterNodes;
  readonly #options: LaneOptions;
  readonly #state: StateCell = new StateCell({ status: "connecting", epoch: 0 });
  readonly #nodes: Map<string, Node> = new Map();
  #slots: (Node | undefined)[] = [];
  #masters: ReadonlySet<Node> = new Set();
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #refreshing = false;
  #refreshError: Error | undefined;
  #closed = false;

  private constructor(source: ClusterNodes, options: LaneOptions) {
    this.info = { name: options.name, cluster: true, protocol: 2 };
    this.#source = source;
    this.#options = options;
    for (const seed of source.seeds) this.#node(seed);
  }

  /**
   * Opens a lane and waits until every master is connected.
   * @throws DriverFault `offline` with the cause after `connectTimeoutMs`, `reply` when the servers
   * refuse the credentials.
   */
  static async open(
    source: ClusterNodes,
    options: LaneOptions,
    signal?: AbortSignal,
  ): Promise<ClusterLane> {
    const lane = new ClusterLane(source, options);
    await firstReady(lane, options.connectTimeoutMs, signal);
    return lane;
  }

  get state(): DriverState {
    return this.#state.value;
  }

  command(args: Command, route?: Route): Promise<Reply> {
    const key = route?.key ?? firstKey(args);
    const node = key === undefined ? this.#anyNode() : this.#slots[keySlot(key)];
    if (node === undefined) return Promise.reject(this.#unavailable());
    const answer = node.lane.command(args);
    return answer.catch((error: unknown) => this.#redirect(error, args, node, REDIRECTS));
  }

  // One call a command: each node's connection joins its part into one write, nodes run in parallel.
  pipeline(commands: readonly Command[], route?: Route): Promise<readonly Settled<Reply>[]> {
    return Promise.all(commands.map((args) => settle(this.command(args, route))));
  }

  async fork(role: LaneRole, signal?: AbortSignal): Promise<RedisDriver> {
    if (this.#closed) throw closed();
    return ClusterLane.open(this.#source, { ...this.#options, role }, signal);
  }

  onState(listener: (state: DriverState) => void): () => void {
    return this.#state.watch(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async close(mode: "drain" | "now" = "drain"): Promise<void> {
    if (!this.#closed) {
      this.#closed = true;
      clearTimeout(this.#timer);
      this.#state.set({ status: "closed", epoch: this.state.epoch });
    }
    await Promise.all([...this.#nodes.values()].map((node) => node.lane.close(mode)));
  }

  #unavailable(): DriverFault {
    return this.#closed ? closed() : offline(this.state.error);
  }

  #anyNode(): Node | undefined {
    let any: Node | undefined;
    for (const node of this.#masters) {
      if (node.lane.state.status === "ready") return node;
      any = node;
    }
    return any;
  }

  #node(told: NodeAddress): Node {
    const address = this.#source.translate(told);
    const name = addressName(address);
    const known = this.#nodes.get(name);
    if (known !== undefined) return known;
    const node = { address, lane: new Lane(this.#source.opener(address), this.#options) };
    this.#nodes.set(name, node);
    node.lane.onState(({ status }) => {
      if (status === "ready" && this.#masters.size === 0) void this.#refresh();
      else this.#update();
    });
    return node;
  }

  /** `MOVED` and `ASK` say that the command did not run, so sending it elsewhere is not a repeat. */
  async #redirect(error: unknown, args: Command, from: Node, left: number): Promise<Reply> {
    const target = isDriverFault(error, "reply") ? readRedirect(error.message) : undefined;
    if (target === undefined || left === 0 || this.#closed) throw error;
    const host = target.host === "" ? from.address.host : target.host;
    const node = this.#node({ host, port: target.port });
    if (target.kind === "MOVED") {
      this.#slots[target.slot] = node;
      void this.#refresh();
    }
    try {
      await untilReady(node.lane, this.#options.connectTimeoutMs);
      if (target.kind === "ASK") node.lane.command(["ASKING"]).catch(() => {});
      return await node.lane.command(args);
    } catch (next) {
      return this.#redirect(next, args, node, left - 1);
    }
  }

  #update(): void {
    if (this.#closed) return;
    const { status, epoch, error } = this.state;
    let trouble = this.#refreshError;
    let ready = this.#masters.size > 0;
    const nodes = ready ? this.#masters : new Set(this.#nodes.values());
    // One name that means nothing is no end while another node may answer.
    const lost = [...nodes].every(({ lane }) => lane.state.error && hostUnknown(lane.state.error));
    for (const { lane } of nodes) {
      if (lane.state.status === "ready") continue;
      ready = false;
      const { error } = lane.state;
      if (error && (lost || !hostUnknown(error))) trouble = error;
    }
    if (!ready) this.#refreshLater();
    if (ready && status !== "ready") {
      this.#failures = 0;
      this.#state.set({ status: "ready", epoch: epoch + 1 });
    } else if (!ready && (status === "ready" || error !== trouble)) {
      const next = epoch === 0 ? "connecting" : "reconnecting";
      this.#state.set({ status: next, epoch, ...(trouble && { error: trouble }) });
    }
  }

  #refreshLater(): void {
    if (this.#timer !== undefined || this.#refreshing || this.#closed) return;
    this.#timer = setTimeout(() => void this.#refresh(), backoffMs(this.#failures++));
  }

  async #refresh(): Promise<void> {
    if (this.#refreshing || this.#closed) return;
    this.#refreshing = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    try {
      const ready = [...this.#nodes.values()].filter((n) => n.lane.state.status === "ready");
      // Any of them: one node alone may have an old view.
      const node = ready[Math.floor(Math.random() * ready.length)];
      if (node === undefined) for (const seed of this.#source.seeds) this.#node(seed);
      else this.#learn(await this.#ask(node), node.address.host);
      this.#refreshError = undefined;
    } catch (error) {
      this.#refreshError = connectFault(error);
    } finally {
      this.#refreshing = false;
    }
    this.#update();
  }

  async #ask(node: Node): Promise<Reply> {
    const { connectTimeoutMs } = this.#options;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const text = `CLUSTER SLOTS: no answer within ${connectTimeoutMs} ms`;
      timer = setTimeout(() => reject(new DriverFault("connection", text)), connectTimeoutMs);
    });
    try {
      return await Promise.race([node.lane.command(["CLUSTER", "SLOTS"]), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #learn(reply: Reply, askedHost: string): void {
    if (this.#closed) return;
    const ranges = readSlots(reply, askedHost);
    if (ranges.length === 0) throw new DriverFault("reply", "CLUSTERDOWN no slot is served");
    const slots: (Node | undefined)[] = [];
    const masters = new Set<Node>();
    for (const { from, to, address } of ranges) {
      const node = this.#node(address);
      masters.add(node);
      for (let slot = from; slot <= to; slot++) slots[slot] = node;
    }
    this.#slots = slots;
    this.#masters = masters;
    for (const [name, node] of this.#nodes) {
      if (masters.has(node)) continue;
      this.#nodes.delete(name);
      void node.lane.close("drain");
    }
  }
}
