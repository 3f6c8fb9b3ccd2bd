"""LangGraph's PostgresSaver: a graph of one node, an answer to each message.

# needs pip: langgraph langgraph-checkpoint-postgres psycopg[binary]
"""

from langchain_core.messages import AIMessage
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.graph import END, START, MessagesState, StateGraph

from app import main, maker

THREADS, TURNS = 3, 200


def answer(state):
    return {"messages": [AIMessage(maker("answer", len(state["messages"])).words(150))]}


def graph(saver):
    builder = StateGraph(MessagesState)
    builder.add_node("answer", answer)
    builder.add_edge(START, "answer")
    builder.add_edge("answer", END)
    return builder.compile(checkpointer=saver)


def config(thread):
    return {"configurable": {"thread_id": f"thread-{thread}"}}


def make():
    with PostgresSaver.from_conn_string("") as saver:
        saver.setup()


def turn(turns):
    with PostgresSaver.from_conn_string("") as saver:
        app = graph(saver)
        for i in turns:
            app.invoke({"messages": [("user", maker("question", i).words(20))]}, config(i % THREADS))


def read():
    with PostgresSaver.from_conn_string("") as saver:
        app = graph(saver)
        for thread in range(THREADS):
            for state in app.get_state_history(config(thread), limit=20):
                yield [state.metadata["step"], state.next, [m.content for m in state.values["messages"]]]


main(f"LangGraph's PostgresSaver, {THREADS} threads of {TURNS} turns", THREADS * TURNS, {"a turn": turn}, make, read)
